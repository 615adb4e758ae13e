//! Changed manifests end in a judged plan or in an error, whatever the change: never in a panic, a hang, a plan
//! that the judge refuses, or memory beyond [`MEMORY_KIB_MAX`].
//!
//! `NODEFORM_MUTATIONS` sets how many; the number of a case makes the case, so that a failure can be repeated
//! by `NODEFORM_MUTATION`.
#![expect(clippy::disallowed_methods, reason = "tests read files and settings")]

mod replayed;
mod targets;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use nodeform::manifests::Source;
use nodeform::offline::{self, Request, world};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many changed manifests are tried where nobody says another number.
const CASES: usize = 2000;

/// The most memory that the whole test may ever hold.
const MEMORY_KIB_MAX: u64 = 512 << 10;

/// The most changes of one manifest.
const CHANGES_MAX: usize = 6;

/// Manifests above this size say nothing that a smaller one does not.
const SEED_BYTES_MAX: u64 = 24 << 10;

/// Numbers that follow from a seed alone (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn of_case(case: usize) -> Self {
        Self((case as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).expect("31 bits fit") % most.max(1)
    }

    fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Values that people and programs write by mistake.
const VALUES: [&str; 46] = [
    "",
    "~",
    "null",
    "true",
    "no",
    "0",
    "-1",
    "1",
    "3",
    "0x10",
    "0o17",
    "017",
    "1e3",
    "1e308",
    "-1e308",
    "1e999",
    ".inf",
    "-.inf",
    ".nan",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "340282366920938463463374607431768211456",
    "0.0000000001",
    "1_000",
    "100m",
    "1.5Gi",
    "8Ei",
    "9000E",
    "-5Mi",
    "12:30:45",
    "2026-11-21",
    "\"\"",
    "\"\\u0000\"",
    "'*'",
    "[]",
    "{}",
    "[[], {}]",
    "{a: {b: [c]}}",
    "&x y",
    "*x",
    "!!binary aGVsbG8=",
    "!secret x",
    "|-",
    "{{ .Values.replicas }}",
];

/// Pieces of text that break the shape of a document.
const PIECES: [&str; 24] = [
    "\t",
    "\n",
    "- ",
    ": ",
    "{",
    "[",
    "]}",
    "\"",
    "'",
    "&a ",
    "*a",
    "<<: *a\n",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "? ",
    "#",
    "%YAML 1.1\n",
    "\u{85}",
    "\u{feff}",
    "\u{202e}",
    "\r",
    "\0",
];

/// Whole documents that ask for too much.
fn monsters() -> Vec<String> {
    let bomb: String = (1..30)
        .map(|level| {
            let before = level - 1;
            format!("a{level}: &a{level} [*a{before}, *a{before}, *a{before}, *a{before}, *a{before}]\n")
        })
        .collect();
    vec![
        format!("---\napiVersion: v1\nkind: ConfigMap\na0: &a0 [x]\n{bomb}"),
        format!("---\n{}\n", "[".repeat(20_000)),
        format!("---\n{}x\n", "a: {".repeat(5_000)),
        format!("---\n{}\n", "- ".repeat(5_000)),
        format!("---\nkind: List\napiVersion: v1\nitems: {}\n", "[".repeat(300)),
        format!("---\nkey: \"{}\"\n", "x".repeat(1 << 20)),
    ]
}

/// Changes one place of a text.
fn change(text: &mut Vec<u8>, numbers: &mut Numbers, seeds: &[(PathBuf, String)]) {
    let place = numbers.below(text.len() + 1);
    match numbers.below(12) {
        0 => drop(text.splice(place..place, numbers.one_of(&PIECES).bytes())),
        1 => drop(text.drain(place..(place + numbers.below(40)).min(text.len()))),
        2 => {
            let end = (place + numbers.below(200)).min(text.len());
            let again = text[place..end].to_vec();
            text.splice(place..place, again);
        }
        3 => drop(text.splice(place..place, [u8::try_from(numbers.below(256)).expect("is a byte")])),
        4 => {
            let other = seeds[numbers.below(seeds.len())].1.as_bytes();
            let start = numbers.below(other.len());
            let end = (start + numbers.below(400)).min(other.len());
            text.splice(place..place, other[start..end].iter().copied());
        }
        5 => lines(text, numbers),
        6..=8 => word(text, place, numbers),
        _ => value(text, place, numbers),
    }
}

/// Gives the next key or item after a place another value.
fn value(text: &mut Vec<u8>, place: usize, numbers: &mut Numbers) {
    let after = text[place..].windows(2).position(|pair| pair == b": " || pair == b"- ");
    let Some(start) = after.map(|offset| place + offset + 2) else { return };
    let length =
        text[start..].iter().position(|byte| matches!(byte, b'\n' | b',' | b'}' | b']')).unwrap_or(0);
    text.splice(start..start + length, numbers.one_of(&VALUES).bytes());
}

/// Puts a word of the same text in the place of another: values stay ones that mean something.
fn word(text: &mut Vec<u8>, place: usize, numbers: &mut Numbers) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./".contains(byte);
    let word_at = |place: usize| {
        let start = place + text[place..].iter().position(is_word)?;
        let end =
            text[start..].iter().position(|byte| !is_word(byte)).map_or(text.len(), |length| start + length);
        Some(start..end)
    };
    let (Some(one), Some(other)) = (word_at(place), word_at(numbers.below(text.len() + 1))) else { return };
    let other = text[other].to_vec();
    text.splice(one, other);
}

/// Removes, repeats, moves or indents a line.
fn lines(text: &mut Vec<u8>, numbers: &mut Numbers) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    match numbers.below(5) {
        0 => drop(lines.remove(one)),
        1 => {
            let again = lines[one].clone();
            lines.insert(other, again);
        }
        2 => lines.swap(one, other),
        3 => drop(lines[one].splice(0..0, *b"  ")),
        _ => {
            let indented = lines[one].iter().take(2).take_while(|byte| **byte == b' ').count();
            lines[one].drain(..indented);
        }
    }
    *text = lines.concat();
}

/// Makes the manifest of a case.
fn changed(case: usize, seeds: &[(PathBuf, String)], monsters: &[String]) -> Vec<u8> {
    let mut numbers = Numbers::of_case(case);
    let mut text = seeds[numbers.below(seeds.len())].1.clone().into_bytes();
    if numbers.below(500) == 0 {
        text.extend_from_slice(monsters[numbers.below(monsters.len())].as_bytes());
    }
    // Mostly few: many leave nothing that can be read.
    let most = 1 + numbers.below(CHANGES_MAX);
    for _ in 0..=numbers.below(most) / 2 {
        change(&mut text, &mut numbers, seeds);
    }
    text
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Planned,
    Refused,
}

fn end_of(text: Vec<u8>, catalog: &(String, String)) -> Result<End, String> {
    let request = Request {
        sources: vec![Source::new("changed.yaml", text)],
        catalogs: vec![catalog.clone()].into(),
        ..Request::default()
    };
    let world = match world(request) {
        Ok(world) => world,
        Err(problems) if problems.is_empty() => return Err("it is refused without a reason".to_owned()),
        Err(_) => return Ok(End::Refused),
    };
    offline::plan(&world)
        .map(|_| End::Planned)
        .map_err(|refused| format!("the judge refuses it: {:?}", refused.findings))
}

fn manifests_below(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("is a folder").map(|entry| entry.expect("is there").path()).collect();
    paths.sort();
    for path in paths {
        let is_small = fs::metadata(&path).is_ok_and(|facts| facts.len() <= SEED_BYTES_MAX);
        if path.is_dir() {
            manifests_below(&path, found);
        } else if is_small && path.extension().is_some_and(|ending| ending == "yaml") {
            let text = fs::read_to_string(&path).expect("is text");
            found.push((path, text));
        }
    }
}

/// The most memory that this process has held; `None` where the system does not say.
fn peak_kib() -> Option<u64> {
    let facts = fs::read_to_string("/proc/self/status").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn setting(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().expect("the setting is a number"))
}

#[test]
fn changed_manifests_end_in_a_judged_plan_or_an_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Vec::new();
    // The worlds recorded from Karpenter are in a form of their own, which only their test completes.
    for folder in ["examples", "fixtures/api", "fixtures/guides", "fixtures/worlds"] {
        manifests_below(&root.join(folder), &mut seeds);
    }
    let catalog = root.join("fixtures/catalog.json");
    let catalog = ("catalog.json".to_owned(), fs::read_to_string(catalog).expect("the catalogue is there"));
    let monsters = monsters();
    if let Some(case) = setting("NODEFORM_MUTATION") {
        let text = changed(case, &seeds, &monsters);
        println!("{}", String::from_utf8_lossy(&text));
        assert_eq!(end_of(text, &catalog).err(), None);
        return;
    }
    let cases = setting("NODEFORM_MUTATIONS").unwrap_or(CASES);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut ends: BTreeMap<End, usize> = BTreeMap::new();
        let mut faults = Vec::new();
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            if case >= cases {
                return (ends, faults);
            }
            let text = changed(case, &seeds, &monsters);
            match catch_unwind(AssertUnwindSafe(|| end_of(text, &catalog))) {
                Ok(Ok(end)) => *ends.entry(end).or_default() += 1,
                Ok(Err(fault)) => faults.push(format!("case {case}: {fault}")),
                Err(_) => faults.push(format!("case {case}: panics")),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        started.into_iter().map(|thread| thread.join().expect("faults are caught")).collect()
    });
    let mut ends: BTreeMap<End, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for (some, more) in found {
        some.into_iter().for_each(|(end, count)| *ends.entry(end).or_default() += count);
        faults.extend(more);
    }
    let peak = peak_kib();
    println!("{cases} changed manifests: {ends:?}, at most {} MiB held", peak.unwrap_or(0) / 1024);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    assert!(peak.is_none_or(|peak| peak < MEMORY_KIB_MAX), "{peak:?} KiB were held");
    // A change that makes every manifest unreadable would try nothing beyond the reader.
    assert!(ends.values().all(|count| *count >= cases / 10) && ends.len() == 2, "{ends:?}");
}
