//! Dumps: split into items, and read like small ones.

use std::fmt::Write as _;

use super::{faults, objects};
use crate::manifests::source::WHOLE_BYTES_MAX;

/// Writes a dump of pods as kubectl does, too large to be parsed whole.
fn dump(wrong: Option<usize>) -> (String, usize) {
    let mut text = "apiVersion: v1\nitems:\n".to_owned();
    let mut count = 0;
    while text.len() <= WHOLE_BYTES_MAX + 1000 {
        let cpu = if wrong == Some(count) { "-1" } else { "500m" };
        write!(
            text,
            "- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n      note: |\n        - no item\n\n        kind: List\n        {}\n    \
             name: web-{count}\n    uid: u{count}\n  spec:\n    containers:\n    - name: c\n      resources:\n        requests:\n          \
             cpu: {cpu}\n    nodeName: n{}\n",
            "padding ".repeat(250),
            count % 50
        )
        .expect("text takes text");
        count += 1;
    }
    text.push_str("kind: List\nmetadata:\n  resourceVersion: \"\"\n");
    (text, count)
}

#[test]
fn a_large_list_is_read_item_by_item() {
    let (text, count) = dump(None);
    let read = objects(&text);
    assert_eq!((read.pods.len(), read.documents), (count, count));
    assert_eq!(
        objects(&format!("# head\n---\n{text}---\n{}", text.replace("web-", "api-"))).pods.len(),
        2 * count
    );
    let windows = text.replace('\n', "\r\n");
    assert_eq!(objects(&windows), read);
}

#[test]
fn faults_of_a_large_list_have_the_line_of_their_field() {
    let (text, _) = dump(Some(100));
    let line = 1 + text.lines().position(|line| line.contains("cpu: -1")).expect("is there");
    let expected = format!(
        "a.yaml:{line}: spec.containers[0].resources.requests.cpu: must not be negative, and is `-1` \
         (in `Pod/web-100`)\nhint: write a number with a unit, such as `500m`, `2`, `1.5Gi`"
    );
    assert_eq!(faults(&text), [expected]);
}

#[test]
fn a_large_list_in_json_is_read_item_by_item() {
    let (text, count) = dump(None);
    let yaml = objects(&text);
    let mut json = "{\n\t\"apiVersion\": \"v1\",\n\t\"items\": [\n".to_owned();
    for number in 0..count {
        let comma = if number + 1 < count { "," } else { "" };
        writeln!(
            json,
            "\t\t{{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {{\"name\": \"web-{number}\", \"uid\": \"u{number}\"}}, \
             \"x\": \"{}\", \"spec\": {{\"nodeName\": \"n{}\", \"containers\": [{{\"name\": \"c\", \
             \"resources\": {{\"requests\": {{\"cpu\": \"500m\"}}}}}}]}}}}{comma}",
            "padding ".repeat(300),
            number % 50
        )
        .expect("text takes text");
    }
    json.push_str("\t],\n\t\"kind\": \"List\"\n}\n");
    assert!(json.len() > WHOLE_BYTES_MAX);
    assert_eq!(objects(&json), yaml);
    let wrong = json.replacen("\"500m\"", "\"5 00m\"", 3);
    let lines: Vec<String> = faults(&wrong).iter().map(|fault| fault.chars().take(9).collect()).collect();
    assert_eq!(lines, ["a.yaml:4:", "a.yaml:5:", "a.yaml:6:"]);
}

#[test]
fn a_large_list_that_is_not_cut_is_read_whole() {
    let (text, count) = dump(None);
    // Flow style has no indentation to split at.
    let items: Vec<String> = (0..count * 2)
        .map(|number| format!("{{apiVersion: v1, kind: Pod, metadata: {{name: web-{number}, annotations: {{a: {}}}}}, spec: {{containers: [{{name: c}}]}}}}", "x".repeat(1000)))
        .collect();
    let flow = format!("{{apiVersion: v1, kind: List, items: [\n{}\n]}}", items.join(",\n"));
    assert!(flow.len() > text.len() / 2);
    assert_eq!(objects(&flow).pods.len(), count * 2);
}

#[test]
fn many_documents_may_be_more_than_one_document_may() {
    let one = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n";
    let many = one.repeat((WHOLE_BYTES_MAX / one.len()) + 10);
    assert_eq!(objects(&many).passed_over["ConfigMap"], WHOLE_BYTES_MAX / one.len() + 10);
}

#[test]
fn a_large_list_refuses_what_a_small_one_refuses() {
    let (text, _) = dump(None);
    let twice = text.replacen("apiVersion: v1\nitems:", "apiVersion: v1\napiVersion: v1\nitems:", 1);
    assert!(faults(&twice)[0].starts_with("a.yaml:2: duplicate key `apiVersion`"));
    let items = format!("{text}items: []\n");
    assert!(faults(&items)[0].contains("duplicate key `items`"));
    let inside = text.replacen("    uid: u7\n", "    uid: u7\n    uid: u8\n", 1);
    let line = 1 + inside.lines().position(|line| line == "    uid: u8").expect("is there");
    assert!(faults(&inside)[0].starts_with(&format!("a.yaml:{line}: duplicate key `uid`")));
}
