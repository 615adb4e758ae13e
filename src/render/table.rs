//! Aligned columns of text, for all lists for people.

/// Formats rows as aligned columns, two spaces apart; `right` says which columns are right-aligned. The first row is
/// the heading, formatted like the others. Lines have no trailing spaces; control characters, which input names may
/// contain, become spaces.
///
/// Width is counted in characters: names of Kubernetes and Azure have no wide ones.
#[must_use]
pub fn aligned(rows: &[Vec<String>], right: &[bool]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let cell = cell.replace(char::is_control, " ");
            if right.get(column).copied().unwrap_or(false) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let rows = [row(["name", "cpu", "zones"]), row(["a", "16", ""]), row(["größer", "4", "1\n2"])];
        assert_eq!(aligned(&rows, &[false, true]), "name    cpu  zones\na        16\ngrößer    4  1 2\n");
        assert_eq!(aligned(&[], &[]), "");
    }
}
