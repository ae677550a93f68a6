//! A small mutator for the runs inside `cargo test`: one seed and one number give one input, the
//! same everywhere. Texts are changed word by word, so that the grammar survives often enough to
//! get behind the readers; some changes are of bytes all the same.

use eggshade::ir::testing::rng::Rng;

/// Words that are at the edge of something.
const ODD: &[&str] = &[
    "0",
    "1",
    "-1",
    "4",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "99999999999",
    "1e38",
    "1e39",
    "nan",
    "-0.0",
    "0x7fc00000",
    ".xyzw",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    "#",
    "##",
    "\\\n",
    "\n",
    "/*",
    "é",
];

/// `seed` changed in one to four places.
pub fn mutate(seed: &[u8], others: &[Vec<u8>], is_text: bool, rng: &mut Rng) -> Vec<u8> {
    let mut out = seed.to_vec();
    for _ in 0..1 + rng.below(4) {
        out = match std::str::from_utf8(&out) {
            Ok(text) if is_text && !rng.chance(1, 8) => {
                let other = others.get(rng.below(others.len() as u32) as usize);
                mutate_words(text, other.and_then(|o| std::str::from_utf8(o).ok()).unwrap_or(""), rng)
            }
            _ => mutate_bytes(out, rng),
        };
    }
    out
}

/// Runs of letters, digits and the signs inside numbers and names; all else one by one.
fn words(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        out.push(word);
        rest = after;
    }
    out
}

fn mutate_words(text: &str, other: &str, rng: &mut Rng) -> Vec<u8> {
    let mut all = words(text);
    if all.is_empty() {
        return ODD[rng.below(ODD.len() as u32) as usize].into();
    }
    let place = |rng: &mut Rng, n: usize| rng.below(n as u32) as usize;
    let at = place(rng, all.len());
    match rng.below(9) {
        0 => drop(all.remove(at)),
        1 => all.insert(at, ODD[place(rng, ODD.len())]),
        2 => all[at] = ODD[place(rng, ODD.len())],
        3 => {
            let from = place(rng, all.len());
            all.swap(at, from);
        }
        4 => {
            // A stretch once more.
            let end = (at + 1 + place(rng, 24)).min(all.len());
            let stretch = all[at..end].to_vec();
            all.splice(at..at, stretch);
        }
        5 => {
            let end = (at + 1 + place(rng, 24)).min(all.len());
            all.drain(at..end);
        }
        6 if !other.is_empty() => {
            let theirs = words(other);
            let start = place(rng, theirs.len());
            let end = (start + 1 + place(rng, 16)).min(theirs.len());
            all.splice(at..at, theirs[start..end].iter().copied());
        }
        _ => {
            // A word of the same kind from elsewhere keeps the grammar.
            let alike = |w: &&str| w.as_bytes()[0].is_ascii_digit() == all[at].as_bytes()[0].is_ascii_digit();
            let choices: Vec<&str> = all.iter().copied().filter(|w| w.len() > 1 && alike(w)).collect();
            if !choices.is_empty() {
                all[at] = choices[place(rng, choices.len())];
            }
        }
    }
    all.concat().into_bytes()
}

fn mutate_bytes(mut bytes: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![rng.below(256) as u8];
    }
    let at = rng.below(bytes.len() as u32) as usize;
    match rng.below(6) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.below(256) as u8,
        2 => bytes[at] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        3 => bytes.truncate(at),
        4 => drop(bytes.remove(at)),
        _ => bytes.insert(at, rng.below(256) as u8),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_give_the_same_input() {
        let seed = b"void main() { gl_FragColor = vec4(1.0); }";
        let run = |n| mutate(seed, &[seed.to_vec()], true, &mut Rng::new(n));
        assert_eq!(run(7), run(7));
        assert!((0..50).filter(|&n| run(n) != seed).count() > 40);
    }

    #[test]
    fn words_are_cut_at_signs() {
        assert_eq!(words("a_1.x+=2.5;"), ["a_1.x", "+", "=", "2.5", ";"]);
    }
}
