//! The constant table: which uniform is in which registers, as a comment of the token stream.
//!
//! Offsets count in bytes from the word behind `CTAB`:
//!
//! ```text
//! header 28  size  creator  version  entries  their offset  flags  target
//! entry  20  name  set:16 index:16  count:16 0:16  type  default
//! type   16  class:16 kind:16  rows:16 columns:16  elements:16 members:16  offset of members
//! ```
//!
//! Members of structures, defaults, creator and target are not read. Names are printable ASCII without
//! blanks of at most [`MAX_NAME`] bytes, so that they stand in a line of the disassembly.

use super::tokens::position;
use super::{Class, Constant, RegisterSet, ScalarKind};

/// `CTAB`
pub(super) const MAGIC: u32 = 0x4241_5443;
/// Longest name in bytes.
const MAX_NAME: usize = 4096;
const HEADER: usize = 28;
const ENTRY: usize = 20;
const TYPE: usize = 16;

/// The number of a kind of lanes.
const fn kind_number(kind: ScalarKind) -> u32 {
    match kind {
        ScalarKind::Void => 0,
        ScalarKind::Bool => 1,
        ScalarKind::Int => 2,
        ScalarKind::Float => 3,
        ScalarKind::Sampler => 10,
        ScalarKind::Sampler1D => 11,
        ScalarKind::Sampler2D => 12,
        ScalarKind::Sampler3D => 13,
        ScalarKind::SamplerCube => 14,
    }
}

fn is_name(bytes: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
}

const fn halves(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// The words of the comment, `CTAB` first.
pub(super) fn write(constants: &[Constant], version: u32) -> Result<Vec<u32>, String> {
    if let Some(c) = constants.iter().find(|c| !is_name(c.name.as_bytes())) {
        return Err(format!("no name for a constant table: {:?}", c.name));
    }
    let n = constants.len();
    let (types, strings) = (HEADER + n * ENTRY, HEADER + n * (ENTRY + TYPE));
    let mut text: Vec<u8> = Vec::new();
    let mut string = |s: &str| {
        let at = strings + text.len();
        text.extend(s.bytes().chain([0]));
        at as u32
    };
    let (creator, target) = (string("eggshade"), string(if version >> 16 == 0xfffe { "vs" } else { "ps" }));
    let mut out = vec![MAGIC, HEADER as u32, creator, version, n as u32, HEADER as u32, 0, target];
    for (i, c) in constants.iter().enumerate() {
        let set = position(RegisterSet::ALL, c.set);
        let registers = [halves(set, c.index.into()), halves(c.count.into(), 0)];
        out.push(string(&c.name));
        out.extend(registers);
        out.extend([(types + i * TYPE) as u32, 0]);
    }
    for c in constants {
        out.push(halves(position(Class::ALL, c.class), kind_number(c.kind)));
        out.extend([halves(c.rows.into(), c.columns.into()), halves(c.elements.into(), 0), 0]);
    }
    text.resize(text.len().next_multiple_of(4), 0);
    out.extend(text.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)));
    Ok(out)
}

type Read<T> = Result<T, (usize, String)>;

/// The constants of a comment that starts with `CTAB`; an error has the word that it is about.
pub(super) fn read(words: &[u32]) -> Read<Vec<Constant>> {
    let table = Table(words.get(1..).unwrap_or_default());
    if table.word(0)? != HEADER as u32 {
        return Err((1, "a constant table of another layout".into()));
    }
    let (count, first) = (table.word(12)? as usize, table.word(16)? as usize);
    // every entry takes room, so that more than there is room for cannot be
    if count > words.len() * 4 / ENTRY {
        return Err((4, format!("{count} constants in a table of {} words", words.len())));
    }
    (0..count).map(|n| table.constant(first.saturating_add(n * ENTRY))).collect()
}

/// The words behind `CTAB`.
struct Table<'w>(&'w [u32]);

impl Table<'_> {
    /// The word at an offset in bytes; offsets are multiples of 4.
    fn word(&self, at: usize) -> Read<u32> {
        let found = if at.is_multiple_of(4) { self.0.get(at / 4) } else { None };
        found.copied().ok_or_else(|| (0, format!("offset {at} is not in the constant table")))
    }

    fn halves(&self, at: usize) -> Read<[u16; 2]> {
        self.word(at).map(|w| [w as u16, (w >> 16) as u16])
    }

    /// The name whose offset stands at `from`.
    fn name(&self, from: usize) -> Read<String> {
        let at = self.word(from)? as usize;
        let bytes = self.0.iter().skip(at / 4).flat_map(|w| w.to_le_bytes()).skip(at % 4);
        let name: Vec<u8> = bytes.take_while(|&b| b != 0).take(MAX_NAME + 1).collect();
        match String::from_utf8(name) {
            Ok(name) if is_name(name.as_bytes()) => Ok(name),
            _ => Err((1 + from / 4, format!("no name of a constant at offset {at}"))),
        }
    }

    fn constant(&self, at: usize) -> Read<Constant> {
        let here = |message: String| (1 + at / 4, message);
        let name = self.name(at)?;
        let [set, index] = self.halves(at.saturating_add(4))?;
        let [count, _] = self.halves(at.saturating_add(8))?;
        let info = self.word(at.saturating_add(12))? as usize;
        let [class, kind] = self.halves(info)?;
        let [rows, columns] = self.halves(info.saturating_add(4))?;
        let [elements, _] = self.halves(info.saturating_add(8))?;
        let set = RegisterSet::ALL.get(usize::from(set)).ok_or_else(|| here(format!("register set {set}")))?;
        let class_of = Class::ALL.get(usize::from(class)).ok_or_else(|| here(format!("class {class} of a constant")));
        let kind_of = ScalarKind::ALL.iter().find(|k| kind_number(**k) == u32::from(kind));
        let kind_of = kind_of.ok_or_else(|| here(format!("type {kind} of a constant")));
        let (class, kind) = (*class_of?, *kind_of?);
        Ok(Constant { name, set: *set, index, count, class, kind, rows, columns, elements })
    }
}
