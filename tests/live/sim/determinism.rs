//! The same seed and requests give the same bytes.

use nodeform::sim::{Start, World};

use crate::sim::bodies::Vm;
use crate::sim::client::{Client, START, settings, skus};

fn story() -> Vec<String> {
    let mut client = Client::new();
    client.put_secret();
    for name in ["a", "b"] {
        let vm = Vm::new(&client.world, name);
        client.make(&vm);
    }
    client.pass(200);
    let deletion = client.delete_vm("a");
    client.finish(&deletion);
    client.pass(200);
    let mut said: Vec<String> = client.exchanges.iter().map(ToString::to_string).collect();
    said.push(client.world.state().to_string());
    said
}

#[test]
fn two_runs_say_the_same() {
    assert_eq!(story(), story());
}

#[test]
fn another_seed_is_another_world() {
    let world = |seed| {
        let time = START.parse().expect("a time");
        World::new(Start { settings: settings(), skus: skus(), seed, time, ..Start::default() })
            .expect("it is valid")
    };
    assert_ne!(world(1).credentials().client_secret.reveal(), world(2).credentials().client_secret.reveal());
}

#[test]
fn time_in_steps_is_time_in_one() {
    let run = |steps: i64| {
        let mut client = Client::new();
        client.put_secret();
        let vm = Vm::new(&client.world, "a");
        client.ask_for(&vm);
        for _ in 0..steps {
            client.pass(600 / steps);
        }
        client.world.state().to_string()
    };
    assert_eq!(run(1), run(600));
}

#[test]
fn secrets_are_in_no_debug_text() {
    let mut client = Client::new();
    client.put_secret();
    let vm = Vm::new(&client.world, "a");
    client.make(&vm);
    let request = client.signed("PUT", &client.vm_path("a")).json(&vm.body(&client.world));
    let secret = client.world.credentials().client_secret.reveal().to_owned();
    let text = format!("{request:?} {:?} {}", client.world.credentials(), client.world.state());
    assert!(
        !text.contains(&secret) && !text.contains("0123456789abcdef") && !text.contains("customData"),
        "{text}"
    );
}
