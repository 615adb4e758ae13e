//! Escaping of input text for Markdown: it can create no mention, link, reference, HTML or table.
//!
//! Anyone who may create a pod chooses its name, and the forge shows that name to reviewers. So everything but plain
//! words and plain numbers is put in a code span, which GitHub, GitLab and Azure DevOps do not interpret. Characters
//! that could end a code span or a table cell, or that are special to tools reading the source text, are replaced by
//! their full-width forms: visible and harmless. This module never decides what is shown.

/// Maximum length of a name in UTF-16 units: enough to distinguish long names. A Kubernetes name has up to 253.
pub const NAME_UNITS_MAX: usize = 80;

/// Maximum length of a sentence in UTF-16 units.
pub const SENTENCE_UNITS_MAX: usize = 400;

/// Replacement for a hidden character.
const HIDDEN: char = '\u{fffd}';

/// Returns the length as the strictest forge counts it: in UTF-16 units, never fewer than the number of characters.
#[must_use]
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns a name as a code span, cut to [`NAME_UNITS_MAX`].
#[must_use]
pub fn code(name: &str) -> String {
    code_within(name, NAME_UNITS_MAX)
}

/// Returns a name as a code span of any length.
#[must_use]
pub fn code_whole(name: &str) -> String {
    code_within(name, usize::MAX)
}

fn code_within(name: &str, units_max: usize) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { "(empty)".to_owned() } else { name };
    format!("`{}`", cut(&name.chars().map(harmless).collect::<String>(), units_max))
}

/// Returns whether a text is unchanged in a code span, so that it can be copied from there.
#[must_use]
pub fn is_kept(text: &str) -> bool {
    code(text).strip_prefix('`').and_then(|code| code.strip_suffix('`')) == Some(text)
}

/// Escapes a sentence with names in backticks, like all sentences of a plan. Everything else that is not a plain word
/// or number becomes code as well, so unbalanced backticks do no harm.
#[must_use]
pub fn sentence(text: &str) -> String {
    sentence_within(text, NAME_UNITS_MAX, SENTENCE_UNITS_MAX)
}

/// Escapes a sentence like [`sentence`], without limits on its length and that of its names.
#[must_use]
pub fn sentence_whole(text: &str) -> String {
    sentence_within(text, usize::MAX, usize::MAX)
}

fn sentence_within(text: &str, name_units_max: usize, units_max: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut used = 0;
    for (place, segment) in text.split('`').enumerate() {
        let is_name = place % 2 == 1;
        let tokens: Vec<String> = if is_name {
            // The parts between names contain the spaces.
            vec![code_within(segment, name_units_max)]
        } else {
            let words = segment.split_inclusive(char::is_whitespace).enumerate();
            words.map(|(index, word)| plain(word, place == 0 && index == 0, name_units_max)).collect()
        };
        for token in tokens {
            used += units(&token);
            if used > units_max {
                parts.push("…".to_owned());
                return joined(&parts);
            }
            parts.push(token);
        }
    }
    joined(&parts)
}

/// Joins parts, keeping adjacent code spans separate.
fn joined(parts: &[String]) -> String {
    let mut text = String::new();
    for part in parts {
        if text.ends_with('`') && part.starts_with('`') {
            text.push(' ');
        }
        text.push_str(part);
    }
    text.trim().to_owned()
}

/// Escapes a word and the space after it.
fn plain(word: &str, is_first: bool, name_units_max: usize) -> String {
    let space = if word.ends_with(char::is_whitespace) { " " } else { "" };
    let word = word.trim();
    if word.is_empty() {
        return space.to_owned();
    }
    let inside = word.trim_start_matches('(');
    let core = inside.trim_end_matches([',', '.', ':', ';', ')', '%', '?', '…', '\'']);
    let (before, after) = (&word[..word.len() - inside.len()], &inside[core.len()..]);
    // `1.` and `1)` would start a list.
    let is_list = is_first && after.starts_with(['.', ')']);
    let core = match core {
        "→" | "×" | "=" => core.to_owned(),
        word if is_word(word) => word.to_owned(),
        number if is_number(number.trim_start_matches(['~', '-', '$'])) && !is_list => {
            number.replace('~', "\\~").replace('$', "\\$")
        }
        "" if !after.contains("::") => String::new(),
        other => code_within(other, name_units_max),
    };
    format!("{before}{core}{after}{space}")
}

/// Returns whether this is an English word: letters, with hyphens and apostrophes inside. A word that could be an
/// abbreviated commit hash is not.
fn is_word(text: &str) -> bool {
    const COMMIT_LENGTH_MIN: usize = 7;
    let has_ends = [text.chars().next(), text.chars().next_back()]
        .iter()
        .all(|end| end.is_some_and(|letter| letter.is_ascii_alphabetic()));
    let is_commit = text.len() >= COMMIT_LENGTH_MIN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_plain = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '-' | '\'' | '’');
    has_ends && !is_commit && text.chars().all(is_plain) && !text.contains("--")
}

/// Returns whether this is a number: digits grouped by commas, with at most one decimal part and one unit. Seven digits
/// in a row could be an abbreviated commit hash.
fn is_number(text: &str) -> bool {
    let text = text.strip_suffix("/month").unwrap_or(text);
    let text =
        ["Ki", "Mi", "Gi", "Ti", "Pi", "m"].iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text);
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits =
        |digits: &str| (1..7).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    whole.split(',').all(are_digits) && are_digits(decimals)
}

/// Returns the safe form of a character in a code span.
fn harmless(character: char) -> char {
    // Offset of the full-width forms from ASCII, in the same order.
    const FULL_WIDTH: u32 = 0xfee0;
    match character {
        '`' | '|' | '$' | '@' | '#' | '!' | '<' | '>' | '[' | ']' | '\\' | '&' | '^' => {
            char::from_u32(u32::from(character) + FULL_WIDTH).unwrap_or(HIDDEN)
        }
        ' '..='~' | '→' | '×' | '…' => character,
        other if other.is_alphanumeric() && !is_right_to_left(other) => other,
        _ => HIDDEN,
    }
}

/// Returns whether the character belongs to a right-to-left script, which would reverse the text around it.
const fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Returns the start of a text within this many units, with `…` if it was longer.
fn cut(text: &str, units_max: usize) -> String {
    if units(text) <= units_max {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = |character: &char| {
        used += character.len_utf16();
        used <= units_max
    };
    let start: String = text.chars().take_while(kept).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{NAME_UNITS_MAX, SENTENCE_UNITS_MAX, code, is_kept, sentence, units};

    #[test]
    fn names_keep_what_names_are_made_of() {
        for name in ["web-0", "team.a/web_1", "karpenter.sh/nodepool", "größe", "日本", "a=b:NoSchedule"]
        {
            assert_eq!(code(name), format!("`{name}`"));
            assert!(is_kept(name));
        }
        assert_eq!(code(""), "`(empty)`");
    }

    #[test]
    fn what_a_forge_would_act_on_stands_as_its_twin() {
        assert_eq!(code("a`|@all <b>"), "`a｀｜＠all ＜b＞`");
        assert_eq!(code("a\u{202e}b\u{200b}c\u{1b}"), "`a\u{fffd}b\u{fffd}c\u{fffd}`");
        assert_eq!(code("a\nb\r\n\u{2028}c"), "`a b c`");
        assert_eq!(code("\u{5d0}"), "`\u{fffd}`");
        assert!(!is_kept("a b|c"));
    }

    #[test]
    fn long_names_are_cut_by_utf_16() {
        let long = code(&"\u{20000}".repeat(300));
        assert!(units(&long) <= NAME_UNITS_MAX + 2 && long.ends_with("…`"), "{long}");
    }

    #[test]
    fn sentences_stay_readable() {
        let same = [
            "2 pods fit nowhere: `default/huge-1` (cpu: `900` is asked for, `7.2` is the most)",
            "3 nodes, 14.8Gi: it doesn't fit (AKS' default)",
        ];
        for text in same {
            assert_eq!(sentence(text), text);
        }
        // These start strikethrough and mathematics.
        assert_eq!(sentence("by ~$375 (~$854 → $479):"), "by \\~\\$375 (\\~\\$854 → \\$479):");
        assert_eq!(
            sentence("1 nvidia.com/gpu of Standard_NC6s_v3"),
            "1 `nvidia.com/gpu` of `Standard_NC6s_v3`"
        );
    }

    #[test]
    fn nothing_in_a_sentence_is_a_reference() {
        let told = sentence(
            "x @all #1 !2 GH-3 ABC-4 deadbeef 1234567 www.evil.com https://evil.com <b> *a* _b_ [a](b)",
        );
        let expected = "x `＠all` `＃1` `！2` `GH-3` `ABC-4` `deadbeef` `1234567` `www.evil.com` `https://evil.com` `＜b＞` `*a*` `_b_` `［a］(b`)";
        assert_eq!(told, expected);
        assert_eq!(sentence("1. a"), "`1`. a");
        assert_eq!(sentence("--- a"), "`---` a");
        assert_eq!(sentence("`a``b` `c"), "`a` `b` `c`");
    }

    #[test]
    fn long_sentences_are_cut_between_words() {
        let long = sentence(&"word `name` ".repeat(200));
        assert!(units(&long) <= SENTENCE_UNITS_MAX + 2 && long.ends_with(" …"), "{long}");
    }
}
