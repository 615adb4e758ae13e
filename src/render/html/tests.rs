//! Properties of the page for any plan.

use super::plan_html;
use crate::plan::tests::world::example_plan;
use crate::render::PlanView;

fn html(plan: &crate::plan::Plan) -> String {
    plan_html(&PlanView::new(plan, None))
}

#[test]
fn the_same_plan_gives_the_same_bytes_and_no_style_attribute() {
    let text = html(&example_plan());
    assert_eq!(text, html(&example_plan()));
    assert!(!text.contains(" style="), "widths are classes, so that the policy can name the whole style");
    assert!(text.contains("Plan: 1 to import, 2 to add, 0 to change, 1 to destroy."), "{text}");
}

#[test]
fn every_node_is_in_the_tables_once_and_on_the_sides_that_it_is_on() {
    let text = html(&example_plan());
    for name in ["aks-general-zzz", "empty-1", "kept-1"] {
        assert_eq!(text.matches(&format!(r#"<th scope="row">{name}</th>"#)).count(), 1, "{name}");
    }
    let row =
        |name: &str| text.split("<tr>").find(|row| row.contains(&format!(">{name}</th>"))).expect("a row");
    let id =
        |name: &str| row(name).split("id=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
    let drawn = |name: &str| text.matches(&format!("href=\"#{}\"", id(name))).count();
    // A deleted node is on one side, a kept one on both.
    assert_eq!((drawn("empty-1"), drawn("kept-1")), (1, 2));
}

#[test]
fn names_of_others_are_text_wherever_they_are() {
    const NAME: &str = "</style><script>alert(1)</script>\"'`&\u{202e}\u{200b}";
    let mut plan = example_plan();
    let world = &mut plan.evidence.world;
    world.catalog = NAME.to_owned();
    for group in &mut world.pods {
        group.names = group.names.iter().map(|name| format!("{name}{NAME}").into()).collect();
    }
    for node in &mut world.nodes {
        node.pool = Some(crate::model::PoolName::new(NAME));
        node.labels.values_mut().for_each(|value| *value = NAME.into());
    }
    let text = html(&plan);
    assert_eq!(text.matches("<script").count(), 1, "our own");
    assert_eq!(text.matches("</style").count(), 1, "our own");
    assert!(text.contains("&lt;script&gt;alert(1)"), "the names are there, as text");
    assert!(!text.contains(['\u{202e}', '\u{200b}']), "what turns text around is hidden");
}
