//! Rows as a table: selects the columns that fit, and their widths.

use jiff::{SignedDuration, Timestamp};

use super::fit;
use super::head::{drawn, share};
use super::row::{Row, Stage, Use};
use crate::catalog::NO_ZONE;
use crate::model::Price;
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, per_hour};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Pool,
    Size,
    Zone,
    Bought,
    Stage,
    Cpu,
    Memory,
    Pods,
    Price,
    Age,
    Planned,
}

/// All columns in order.
const COLUMNS: [Column; 12] = [
    Column::Name,
    Column::Pool,
    Column::Size,
    Column::Zone,
    Column::Bought,
    Column::Stage,
    Column::Cpu,
    Column::Memory,
    Column::Pods,
    Column::Price,
    Column::Age,
    Column::Planned,
];

/// Columns that are dropped first if space is limited; Enter shows their content.
const DISPENSABLE: [Column; 7] =
    [Column::Bought, Column::Age, Column::Zone, Column::Pool, Column::Size, Column::Pods, Column::Price];

/// Gap between columns.
const GAP: usize = 2;
/// Width of the mark before the selected row.
const MARK: usize = 2;
/// Width of the percentage next to a bar.
const PERCENT: usize = 5;
/// Minimum and maximum width of a bar.
const BAR: (usize, usize) = (5, 20);
/// Minimum width of a name: its end distinguishes nodes of one pool.
const NAME_MIN: usize = 20;
/// Maximum width of the names of pools and sizes.
const WORD_MAX: usize = 20;
/// Minimum useful width of planned changes.
const PLANNED_MIN: usize = 18;
/// Width of the title of an empty column of planned changes.
const PLANNED_NONE: usize = "planned".len();

/// Columns that get the remaining space, in order, up to this width; `None` is both bars.
const GROWTH: [(Option<Column>, usize); 6] = [
    (Some(Column::Name), usize::MAX),
    (Some(Column::Pool), usize::MAX),
    (Some(Column::Planned), 40),
    (None, 10),
    (Some(Column::Planned), usize::MAX),
    (None, BAR.1),
];

/// Layout of a table's columns.
pub(super) struct Layout {
    columns: Vec<(Column, usize)>,
    bar: usize,
    now: Option<Timestamp>,
}

impl Layout {
    /// Lays out the rows: columns are as wide as the widest cell of all rows, so that scrolling moves nothing.
    pub(super) fn of(rows: &[&Row], columns: usize, now: Option<Timestamp>) -> Self {
        let mut layout = Self { columns: Vec::new(), bar: BAR.0, now };
        let widest = |column: Column| {
            let cells = rows.iter().map(|row| fit::width(&layout.cell(row, column)));
            // An empty column only needs the first word of its title.
            let title = if column == Column::Planned { PLANNED_NONE } else { column.title().len() };
            cells.chain([title]).max().unwrap_or(0)
        };
        let wanted = COLUMNS.map(|column| (column, widest(column)));
        let least = |(column, wanted): &(Column, usize)| match column {
            Column::Name => (*wanted).min(NAME_MIN),
            Column::Pool | Column::Size => (*wanted).min(WORD_MAX),
            Column::Planned => (*wanted).min(PLANNED_MIN),
            Column::Cpu | Column::Memory => BAR.0 + PERCENT,
            Column::Zone | Column::Bought | Column::Stage | Column::Pods | Column::Price | Column::Age => {
                *wanted
            }
        };
        let mut kept: Vec<(Column, usize)> = wanted.to_vec();
        let taken = |kept: &[(Column, usize)]| {
            MARK + kept.iter().map(|column| least(column) + GAP).sum::<usize>() - GAP
        };
        for column in DISPENSABLE {
            if taken(&kept) <= columns {
                break;
            }
            kept.retain(|(known, _)| *known != column);
        }
        let mut left = columns.saturating_sub(taken(&kept));
        layout.columns = kept.iter().map(|column| (column.0, least(column))).collect();
        // Remaining space goes to names, then alternately to planned changes and bars.
        for (grown, most) in GROWTH {
            let Some(column) = grown else {
                let more = most.saturating_sub(layout.bar).min(left / 2);
                layout.bar += more;
                left -= 2 * more;
                continue;
            };
            let Some((_, wanted)) = kept.iter().find(|(known, _)| *known == column) else { continue };
            let Some(width) = layout.columns.iter_mut().find(|(known, _)| *known == column) else { continue };
            let more = (*wanted).min(most).saturating_sub(width.1).min(left);
            width.1 += more;
            left -= more;
        }
        for (_, width) in layout.columns.iter_mut().filter(|(column, _)| column.has_bar()) {
            *width = layout.bar + PERCENT;
        }
        layout
    }

    /// Returns the line of titles.
    pub(super) fn titles(&self) -> Line {
        let cells = self.columns.iter().map(|(column, width)| match column.is_number() {
            true => fit::right(column.title(), *width),
            false if *width < column.title().len() => fit::left("planned", *width),
            false => fit::left(column.title(), *width),
        });
        let text = format!("{}{}", " ".repeat(MARK), cells.collect::<Vec<_>>().join("  "));
        Line::new(Style::Bold, text.trim_end().to_owned())
    }

    /// Returns the line of a row.
    pub(super) fn row(&self, row: &Row, is_chosen: bool) -> Line {
        let style = if is_chosen { Style::Bold } else { Style::Plain };
        let mut line = Line::new(style, if is_chosen { "> " } else { "  " });
        for (place, (column, width)) in self.columns.iter().enumerate() {
            if place > 0 {
                line = line.with(Style::Plain, "  ");
            }
            line = match column {
                Column::Cpu => self.bar(line, row.cpu),
                Column::Memory => self.bar(line, row.memory),
                Column::Name => {
                    line.with(style, fit::left(&fit::name(&self.cell(row, *column), *width), *width))
                }
                Column::Planned => line.with(style_of(row), fit::start(&self.cell(row, *column), *width)),
                Column::Stage => line.with(stage_style(row.stage), fit::left(row.stage.word(), *width)),
                Column::Pods | Column::Price | Column::Age => {
                    line.with(Style::Plain, fit::right(&fit::start(&self.cell(row, *column), *width), *width))
                }
                Column::Pool | Column::Size | Column::Zone | Column::Bought => {
                    line.with(Style::Plain, fit::left(&fit::name(&self.cell(row, *column), *width), *width))
                }
            };
        }
        line
    }

    fn bar(&self, line: Line, used: Use) -> Line {
        drawn(line, used, self.bar).with(Style::Plain, fit::right(&share(used), PERCENT))
    }

    fn cell(&self, row: &Row, column: Column) -> String {
        let or_unknown =
            |text: &Option<String>| text.as_deref().map_or_else(|| "?".to_owned(), fit::harmless);
        match column {
            Column::Name => fit::harmless(&row.name),
            Column::Pool => row.pool.as_deref().map_or_else(|| "-".to_owned(), fit::harmless),
            Column::Size => size(&or_unknown(&row.size)).to_owned(),
            Column::Zone => zone(&or_unknown(&row.zone)),
            Column::Bought => row.bought.map_or("?", |bought| bought.as_str()).to_owned(),
            Column::Stage => row.stage.word().to_owned(),
            Column::Cpu | Column::Memory => String::new(),
            Column::Pods => pods(row.pods),
            Column::Price => price(row.price),
            Column::Age => row
                .created
                .zip(self.now)
                .map_or_else(|| "?".to_owned(), |(from, to)| age(to.duration_since(from))),
            Column::Planned => fit::harmless(&fate(row)),
        }
    }
}

impl Column {
    const fn title(self) -> &'static str {
        match self {
            Self::Name => "node",
            Self::Pool => "pool",
            Self::Size => "size",
            Self::Zone => "zone",
            Self::Bought => "paid",
            Self::Stage => "stage",
            Self::Cpu => "CPU",
            Self::Memory => "memory",
            Self::Pods => "pods",
            Self::Price => "$/h",
            Self::Age => "age",
            Self::Planned => "planned, or held by",
        }
    }

    const fn has_bar(self) -> bool {
        matches!(self, Self::Cpu | Self::Memory)
    }

    const fn is_number(self) -> bool {
        matches!(self, Self::Pods | Self::Price | Self::Age)
    }
}

/// Returns the planned changes of a node, and what holds them.
pub(super) fn fate(row: &Row) -> String {
    let held = row.held.first().map(|held| format!("held: {held}"));
    row.planned.first().cloned().into_iter().chain(held).collect::<Vec<_>>().join("; ")
}

fn style_of(row: &Row) -> Style {
    match row.planned.first().and_then(|planned| planned.chars().next()) {
        Some('+') => Style::Add,
        Some('-') => Style::Remove,
        Some('~') => Style::Change,
        Some(_) | None => Style::Dim,
    }
}

const fn stage_style(stage: Stage) -> Style {
    match stage {
        Stage::Planned | Stage::Launching | Stage::Registered => Style::Add,
        Stage::NotReady | Stage::Lost => Style::Warning,
        Stage::Ready => Style::Plain,
        Stage::Cordoned => Style::Change,
        Stage::Draining | Stage::Deleting => Style::Remove,
    }
}

/// Returns a size without the common prefix of all sizes.
pub(super) fn size(size: &str) -> &str {
    size.strip_prefix("Standard_").unwrap_or(size)
}

/// Returns a zone without its region; `-` for none.
fn zone(zone: &str) -> String {
    match zone.rsplit('-').next().unwrap_or(zone) {
        NO_ZONE => "-".to_owned(),
        number => number.to_owned(),
    }
}

fn pods(Use { requested, of }: Use) -> String {
    let text = |amount: Option<i64>| amount.map_or_else(|| "?".to_owned(), |amount| amount.to_string());
    format!("{}/{}", text(requested), text(of))
}

/// Formats an hourly price; `?` if unknown.
pub(super) fn price(price: Price) -> String {
    price.known().map_or_else(|| "?".to_owned(), |rate| per_hour(rate, Sureness::of(price.is_estimate())))
}

/// Formats an age in its largest unit, like kubectl.
pub(super) fn age(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
