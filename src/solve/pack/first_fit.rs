//! First-fit decreasing, as in Karpenter: the largest pods first, each into the first open node that still has a size
//! for all its pods; finally, each node gets the cheapest size that holds its pods.
//!
//! One candidate among others. It ignores limits: the caller discards a result that exceeds one.

use crate::model::ResourceName;

use super::dimension::Dimension;
use super::packing::{Packing, add};
use super::room::{Bench, Room};

/// A node whose size is still open.
struct Claim {
    /// Sizes that hold its pods, with the free capacity of each.
    rooms: Vec<Room>,
    load: Vec<(usize, usize)>,
}

/// Places the pods left of all classes on nodes of these columns.
pub(super) fn place(bench: &Bench<'_>, columns: &[usize], packing: &mut Packing) {
    let mut claims: Vec<Claim> = Vec::new();
    for class in order(bench) {
        for claim in &mut claims {
            join(bench, claim, class, &mut packing.left[class]);
        }
        while packing.left[class] > 0 {
            let Some(mut claim) = opened(bench, columns, class) else { break };
            join(bench, &mut claim, class, &mut packing.left[class]);
            claims.push(claim);
        }
    }
    for claim in claims {
        for (class, count) in &claim.load {
            packing.left[*class] += count;
        }
        let cheapest = claim.rooms.iter().map(|room| room.column);
        let cheapest = cheapest.min_by_key(|column| (bench.problem.columns[*column].cost, *column));
        let column = cheapest.expect("a claim keeps at least one size");
        packing.open(bench.problem, column, &claim.load, 1);
    }
}

/// Returns the classes by CPU, then memory, the largest first.
fn order(bench: &Bench<'_>) -> Vec<usize> {
    let place = |name: ResourceName| {
        let wanted = Dimension::Resource(name);
        bench.problem.dimensions.iter().position(|there| *there == wanted)
    };
    let (cpu, memory) = (place(ResourceName::Cpu), place(ResourceName::Memory));
    let mut order: Vec<usize> = (0..bench.problem.classes.len()).collect();
    order.sort_by_key(|class| {
        let need = &bench.problem.classes[*class].need;
        let of = |place: Option<usize>| std::cmp::Reverse(place.map_or(0, |place| need[place]));
        (of(cpu), of(memory), *class)
    });
    order
}

/// Opens a claim in the first pool that takes the class.
fn opened(bench: &Bench<'_>, columns: &[usize], class: usize) -> Option<Claim> {
    let rooms: Vec<Room> = columns
        .iter()
        .filter(|column| bench.problem.columns[**column].commitment.is_none())
        .map(|column| bench.room(*column))
        .filter(|room| bench.most(room, class) > 0)
        .collect();
    let pool = |room: &Room| bench.problem.columns[room.column].pool;
    let first = rooms.iter().map(pool).min()?;
    Some(Claim { rooms: rooms.into_iter().filter(|room| pool(room) == first).collect(), load: Vec::new() })
}

/// Adds as many pods of a class to a claim as its largest size takes.
fn join(bench: &Bench<'_>, claim: &mut Claim, class: usize, left: &mut usize) {
    let most = claim.rooms.iter().map(|room| bench.most(room, class)).max().unwrap_or(0).min(*left);
    if most == 0 {
        return;
    }
    claim.rooms.retain(|room| bench.most(room, class) >= most);
    for room in &mut claim.rooms {
        bench.put(room, class, most);
    }
    add(&mut claim.load, class, most);
    *left -= most;
}
