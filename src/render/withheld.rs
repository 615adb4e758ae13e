//! Lines of manifests safe to show: the values of environment variables are left out.
//!
//! Works line by line, so text that is not YAML is safe too: in doubt a value is left out. Never used to interpret a
//! manifest.

/// Replacement for a value.
const WITHHELD: &str = "(not shown)";

/// Keys below `env` whose values are only names.
const NAMES: [&str; 9] =
    ["name", "key", "optional", "fieldPath", "apiVersion", "resource", "containerName", "divisor", "prefix"];

/// Context from the lines above.
#[derive(Default)]
struct Above {
    /// Column of an enclosing `env` key.
    environment: Option<usize>,
    /// Column of a key whose value is left out and may continue.
    value: Option<usize>,
}

/// Returns each line in safe form, without its line ending.
#[must_use]
pub(super) fn shown<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut above = Above::default();
    lines.into_iter().map(|line| above.shown(line.trim_end_matches(['\n', '\r']))).collect()
}

impl Above {
    fn shown(&mut self, line: &str) -> String {
        let content = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - content.len();
        if content.is_empty() {
            return line.to_owned();
        }
        if self.value.is_some_and(|column| indent > column) {
            return format!("{}{WITHHELD}", &line[..indent]);
        }
        self.value = None;
        let is_below = |column: usize| indent > column || (indent == column && content.starts_with('-'));
        self.environment = self.environment.filter(|column| is_below(*column));
        let entry = content.trim_start_matches(['-', ' ']);
        let column = line.len() - entry.len();
        if self.environment.is_some() {
            return self.variable(line, column, entry);
        }
        let Some(after) = after_env(line) else { return line.to_owned() };
        let rest = line[after..].trim();
        if rest.is_empty() || rest == "[" || rest == "{" || rest.starts_with('#') {
            self.environment = Some(column);
            return line.to_owned();
        }
        self.value = Some(column);
        format!("{} {WITHHELD}", &line[..after])
    }

    /// Returns the safe form of a line below `env`.
    fn variable(&mut self, line: &str, column: usize, entry: &str) -> String {
        let is_bracket = |letter: char| matches!(letter, '{' | '}' | '[' | ']' | ',');
        if entry.chars().all(is_bracket) {
            return line.to_owned();
        }
        let withheld = |upto: usize| format!("{} {WITHHELD}", line[..upto].trim_end());
        let Some(colon) = entry.find(':').filter(|_| !entry.starts_with(is_bracket)) else {
            return withheld(column);
        };
        let key = entry[..colon].trim().trim_matches(['"', '\'']);
        let value = entry[colon + 1..].trim();
        if NAMES.contains(&key) || value.is_empty() || value == "{" || value == "[" {
            return line.to_owned();
        }
        self.value = Some(column);
        withheld(column + colon + 1)
    }
}

/// Returns where the value of `env` starts, on a line with such a key.
fn after_env(line: &str) -> Option<usize> {
    line.match_indices("env").find_map(|(at, word)| {
        let is_start =
            !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || "-_./".contains(letter));
        let rest = &line[at + word.len()..];
        let colon = rest.trim_start_matches(['"', '\'', ' ']);
        (is_start && colon.starts_with(':')).then(|| line.len() - colon.len() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn values_of_environment_variables_are_left_out_and_nothing_else() {
        let text = "\
spec:
  containers:
  - name: web
    env:
    - name: TOKEN
      value: hunter2
    - name: LONG
      value: |
        hunter2
          and more

        of it
    - name: REF
      valueFrom:
        secretKeyRef: {name: s, key: k}
    - {name: FLOW, value: hunter2}
    args: [--level=3]
  - env: [{name: A, value: hunter2}]
    image: app:v2
  tolerations:
  - key: pool
    value: gpu
";
        let text = shown(text.lines()).join("\n");
        assert!(!text.contains("hunter2") && !text.contains("more") && !text.contains("of it"), "{text}");
        assert_eq!(
            text,
            "spec:\n  containers:\n  - name: web\n    env:\n    - name: TOKEN\n      value: (not shown)\n    \
             - name: LONG\n      value: (not shown)\n        (not shown)\n          (not shown)\n\n        \
             (not shown)\n    - name: REF\n      valueFrom:\n        secretKeyRef: (not shown)\n    \
             - (not shown)\n    args: [--level=3]\n  - env: (not shown)\n    image: app:v2\n  tolerations:\n  \
             - key: pool\n    value: gpu"
        );
    }

    #[test]
    fn json_and_values_of_charts_are_left_out_too() {
        for text in [
            "{\n  \"env\": [\n    {\n      \"name\": \"A\",\n      \"value\": \"hunter2\"\n    }\n  ]\n}",
            "{\"containers\":[{\"env\":[{\"name\":\"A\",\"value\":\"hunter2\"}]}]}",
            "env:\n  TOKEN: hunter2\n",
            "env:\n- name: A\n  value: \"hunter2\n  hunter2\"\n",
            "\u{e9}nv env: {A: hunter2,\n  B: hunter2}\n",
        ] {
            assert!(!shown(text.lines()).join("\n").contains("hunter2"), "{text}");
        }
        assert_eq!(shown(["environment: prod", "my-env: test"]), ["environment: prod", "my-env: test"]);
    }
}
