//! Makes a failing case as small as it gets: takes files, lines, splits and rewrites away, then keys of records.

use crate::case::{Case, kept};
use crate::legs::{Failure, Leg, Ways};
use serde_json::Value;

/// The smallest case found that fails in the same way, and how it fails; nothing when it does not fail again.
pub fn minimized(mut case: Case, leg: &Leg, what: &str) -> Option<(Case, Failure)> {
    let fails = |case: &Case| {
        let again = leg.1(&Ways::of(case)).err()?;
        (again.what == what).then_some(again)
    };
    let mut failure = fails(&case)?;
    loop {
        let mut is_smaller = false;
        let mut size = switches(&mut case).len();
        while size > 0 {
            let mut begin = 0;
            loop {
                let mut smaller = case.clone();
                let mut switches = switches(&mut smaller);
                if begin >= switches.len() {
                    break;
                }
                let end = switches.len().min(begin + size);
                switches[begin..end]
                    .iter_mut()
                    .for_each(|dropped| **dropped = true);
                match fails(&smaller) {
                    Some(again) => {
                        (case, failure) = (smaller, again);
                        is_smaller = true;
                    }
                    None => begin = end,
                }
            }
            size /= 2;
        }
        for (home, file, line) in lines(&case) {
            let mut number = 0;
            while let Some(shorter) =
                without_key(&case.homes[home][file].value.lines[line].value, number)
            {
                let mut smaller = case.clone();
                smaller.homes[home][file].value.lines[line].value = shorter;
                match fails(&smaller) {
                    Some(again) => {
                        (case, failure) = (smaller, again);
                        is_smaller = true;
                    }
                    None => number += 1,
                }
            }
        }
        if !is_smaller {
            return Some((case, failure));
        }
    }
}

/// What is left of a case and can be dropped.
fn switches(case: &mut Case) -> Vec<&mut bool> {
    let mut switches = Vec::new();
    for part in &mut case.steps {
        switches.push(&mut part.is_dropped);
    }
    for part in &mut case.rewrites {
        switches.push(&mut part.is_dropped);
    }
    for file in case.homes.iter_mut().flatten() {
        if !file.is_dropped {
            let lines = file.value.lines.iter_mut();
            switches.extend(lines.map(|line| &mut line.is_dropped));
        }
        switches.push(&mut file.is_dropped);
    }
    switches.retain(|is_dropped| !**is_dropped);
    switches
}

fn lines(case: &Case) -> Vec<(usize, usize, usize)> {
    let mut lines = Vec::new();
    for home in [0, 1] {
        for (file_number, file) in case.files(home) {
            lines.extend(kept(&file.lines).map(|(line, _)| (home, file_number, line)));
        }
    }
    lines
}

/// A record without one of its keys; the keys are numbered, those of nested objects and elements of lists included.
fn without_key(line: &[u8], mut number: usize) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(line).ok()?;
    remove(&mut value, &mut number).then(|| {
        let mut shorter = value.to_string().into_bytes();
        let end = line
            .iter()
            .rposition(|byte| *byte != b'\n')
            .map_or(0, |last| last + 1);
        shorter.extend(&line[end..]);
        shorter
    })
}

fn remove(value: &mut Value, number: &mut usize) -> bool {
    match value {
        Value::Object(members) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            for key in keys {
                if *number == 0 {
                    members.remove(&key);
                    return true;
                }
                *number -= 1;
                if remove(&mut members[&key], number) {
                    return true;
                }
            }
            false
        }
        Value::Array(elements) => {
            for element in 0..elements.len() {
                if *number == 0 {
                    elements.remove(element);
                    return true;
                }
                *number -= 1;
                if remove(&mut elements[element], number) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// A case as text.
pub fn told(case: &Case) -> String {
    let mut text = String::new();
    for home in [0, 1] {
        for (number, file) in case.files(home) {
            text.push_str(&format!(
                "home {home}, file {number}, age {}: {}\n",
                file.age,
                file.path.escape_ascii()
            ));
            for (_, line) in kept(&file.lines) {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                let shown = String::from_utf8_lossy(&line[..line.len().min(3000)]).into_owned();
                text.push_str(&format!("    {}\n", shown.replace('\0', "\\0")));
            }
        }
    }
    for (_, cuts) in kept(&case.steps) {
        let lengths = case.files(0).map(|(number, file)| {
            let size = file.content().len();
            format!(
                "file {number}: {} of {size} bytes",
                size * cuts[number] / 1000
            )
        });
        text.push_str(&format!(
            "a sync with {}\n",
            lengths.collect::<Vec<_>>().join(", ")
        ));
    }
    let order = case.order.iter();
    let order: Vec<_> = order
        .filter(|file| !case.homes[0][**file].is_dropped)
        .collect();
    text.push_str(&format!("one file at a time: {order:?}\n"));
    for (_, rewrite) in kept(&case.rewrites) {
        let (file, change) = (rewrite.file, &rewrite.change);
        text.push_str(&format!("file {file}: {change:?}, then a sync\n"));
    }
    text
}
