//! Random shaders keep what they are as text and as tokens, and changed streams are read or refused.

use super::super::*;
use ir::testing::rng::Rng;
use ir::types::Stage;

fn reg(version: Version, rng: &mut Rng) -> Reg {
    let vertex = version.stage == Stage::Vertex;
    loop {
        let kind = *rng.pick(RegType::ALL);
        let there = match kind {
            RegType::Address => vertex,
            RegType::Texture => !vertex,
            RegType::TexCoordOut => vertex && version.major < 3,
            RegType::Output => vertex && version.major >= 3,
            _ => true,
        };
        let names = kind.names().len() as u32;
        let most = if kind == RegType::Const { 8192 } else { 2048 };
        if there {
            return Reg::new(kind, if names > 0 { rng.below(names) } else { rng.below(*rng.clone().pick(&[4, most])) });
        }
    }
}

fn rel(version: Version, rng: &mut Rng) -> Option<Rel> {
    if version.stage == Stage::Fragment && version.major < 2 || rng.chance(3, 4) {
        return None;
    }
    let a0 = Rel { reg: Reg::A0, lane: if version.major < 2 { 0 } else { rng.below(4) as u8 } };
    let counter = Rel { reg: Reg::LOOP, lane: 0 };
    let is_counter = version.stage == Stage::Fragment || (version.major >= 2 && rng.chance(1, 2));
    Some(if is_counter { counter } else { a0 })
}

fn operand(version: Version, rng: &mut Rng) -> (Reg, Option<Rel>) {
    let reg = reg(version, rng);
    let rel = rel(version, rng).filter(|_| reg.kind.is_indexed());
    (reg, rel)
}

fn swizzle(rng: &mut Rng) -> [u8; 4] {
    let lane = rng.below(4) as u8;
    let any = [0; 4].map(|_| rng.below(4) as u8);
    *rng.pick(&[[0, 1, 2, 3], [lane; 4], any])
}

fn src(version: Version, rng: &mut Rng) -> Src {
    let (reg, rel) = operand(version, rng);
    Src { reg, rel, swizzle: swizzle(rng), modifier: *rng.pick(Modifier::ALL) }
}

fn dst(version: Version, rng: &mut Rng) -> Dst {
    let (reg, rel) = operand(version, rng);
    let [saturate, partial, centroid] = [0; 3].map(|_| rng.chance(1, 4));
    let mask = Mask(1 + rng.below(15) as u8);
    Dst {
        reg,
        rel: rel.filter(|_| version.major >= 2),
        mask,
        saturate,
        partial,
        centroid,
        shift: rng.below(7) as i8 - 3,
    }
}

fn inst(version: Version, rng: &mut Rng) -> Inst {
    let op = *rng.pick(Opcode::ALL);
    let wanted = op.operands(version);
    let srcs: Vec<Src> = (0..wanted.srcs).map(|_| src(version, rng)).collect();
    let reg = Reg::new(RegType::Predicate, rng.below(3));
    let predicate = Predicate { reg, swizzle: swizzle(rng), not: rng.chance(1, 2) };
    Inst {
        control: *rng.pick(&op.controls()),
        dst: wanted.dst.then(|| dst(version, rng)),
        predicate: (version.major >= 2 && wanted.dst && rng.chance(1, 4)).then_some(predicate),
        coissue: rng.chance(1, 8),
        ..Inst::flow(op, &srcs)
    }
}

fn dcl(version: Version, rng: &mut Rng) -> Dcl {
    let reg = reg(version, rng);
    let dst = Dst { partial: rng.chance(1, 4), ..Dst::new(reg, Mask(1 + rng.below(15) as u8)) };
    let plain = reg.kind == RegType::Misc || (version.stage == Stage::Fragment && version.major < 3);
    let kind = match reg.kind {
        RegType::Sampler => DclKind::Sampler(*rng.pick(SamplerKind::ALL)),
        _ if plain => DclKind::Plain,
        _ => DclKind::Usage(*rng.pick(Usage::ALL), rng.below(16) as u8),
    };
    Dcl { kind, dst }
}

fn def(rng: &mut Rng) -> Def {
    let lanes = [0; 4].map(|_| rng.next_u64() as u32);
    match rng.below(3) {
        0 => Def::Float { index: rng.below(8192), bits: lanes },
        1 => Def::Int { index: rng.below(16), lanes: lanes.map(u32::cast_signed) },
        _ => Def::Bool { index: rng.below(16), value: rng.chance(1, 2) },
    }
}

fn constant(rng: &mut Rng) -> Constant {
    let half = |rng: &mut Rng| rng.below(65_536) as u16;
    Constant {
        name: format!("lights[{}].color_{}", rng.below(9), "x".repeat(rng.below(9) as usize)),
        set: *rng.pick(RegisterSet::ALL),
        index: half(rng),
        count: half(rng),
        class: *rng.pick(Class::ALL),
        kind: *rng.pick(ScalarKind::ALL),
        rows: half(rng),
        columns: half(rng),
        elements: half(rng),
    }
}

fn shader(rng: &mut Rng) -> Shader {
    let version = *rng.pick(Version::ALL);
    let mut out = Shader::new(version);
    out.constants = (0..rng.below(4)).map(|_| constant(rng)).collect();
    out.dcls = (0..rng.below(5)).map(|_| dcl(version, rng)).collect();
    out.defs = (0..rng.below(4)).map(|_| def(rng)).collect();
    out.insts = (0..rng.below(12)).map(|_| inst(version, rng)).collect();
    out
}

fn check(shader: &Shader) {
    let printed = text::print(shader);
    let words = tokens::write(shader).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(tokens::read(&words).as_ref(), Ok(shader), "{printed}");
    let parsed = parse::parse(Default::default(), &printed);
    let parsed = parsed.unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
    assert_eq!(parsed, Shader { constants: Vec::new(), ..shader.clone() }, "{printed}");
}

#[test]
fn text_and_tokens_are_read_back() {
    for seed in 0..5_000 {
        check(&shader(&mut Rng::new(seed)));
    }
}

#[test]
fn a_changed_stream_is_refused_or_keeps_what_it_says() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut words = tokens::write(&shader(&mut rng)).unwrap();
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(words.len() as u32) as usize;
            match rng.below(4) {
                0 => words[at] = rng.next_u64() as u32,
                1 => words.truncate(at),
                _ => words[at] ^= 1 << rng.below(32),
            }
            words.push(0xffff);
        }
        match tokens::read(&words) {
            Ok(shader) => {
                read += 1;
                check(&shader);
            }
            Err(e) => {
                assert!(e.word <= words.len(), "{e} of {}", words.len());
                refused += 1;
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}
