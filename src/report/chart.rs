//! Charts as inline SVG: no script, and colours that follow the page's light or dark style.

use crate::column::Kind;
use crate::format::{QueryRows, text};
use crate::html::escape;
use crate::terminal::abbreviated;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use time::macros::format_description;
use time::{Date, Duration};

/// What a chart draws, by the names of columns. A question declares it in its header: `-- Chart: columns day cost_usd model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chart<'a> {
    /// One column per day, week or other value of `x`; stacked if there is a series.
    Columns {
        x: &'a str,
        value: &'a str,
        series: Option<&'a str>,
    },
    /// One horizontal bar per row.
    Bars { label: &'a str, value: &'a str },
    /// One line per column of values.
    Lines { x: &'a str, values: Vec<&'a str> },
    /// One square per day, a column per week.
    Calendar { day: &'a str, value: &'a str },
    /// One square per weekday, of which 0 is Sunday, and hour.
    Hours {
        weekday: &'a str,
        hour: &'a str,
        value: &'a str,
    },
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
/// Around the plot, for its labels.
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 10.0;
/// Of a label, on average.
const CHARACTER_WIDTH: f64 = 6.2;
const PLOT_WIDTH: f64 = WIDTH - LEFT - 8.0;
const PLOT_HEIGHT: f64 = HEIGHT - TOP - BOTTOM;

/// Colours in page.css. Smaller series share the last one.
const COLOURS: usize = 7;
const OTHERS: &str = "others";

/// Bars in a chart of bars. The table below it has all rows.
const BARS: usize = 15;

const DAY: &[time::format_description::BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]");

impl<'a> Chart<'a> {
    pub fn parse(words: &'a str) -> Option<Chart<'a>> {
        let words: Vec<&str> = words.split_whitespace().collect();
        Some(match words.as_slice() {
            ["columns", x, value] => Chart::Columns {
                x,
                value,
                series: None,
            },
            ["columns", x, value, series] => Chart::Columns {
                x,
                value,
                series: Some(series),
            },
            ["bars", label, value] => Chart::Bars { label, value },
            ["lines", x, values @ ..] if !values.is_empty() => Chart::Lines {
                x,
                values: values.to_vec(),
            },
            ["calendar", day, value] => Chart::Calendar { day, value },
            ["hours", weekday, hour, value] => Chart::Hours {
                weekday,
                hour,
                value,
            },
            _ => return None,
        })
    }

    /// The chart; none if a column is missing or there is nothing to draw.
    pub fn draw(&self, rows: &QueryRows) -> Option<String> {
        let column = |name: &str| rows.columns.iter().position(|column| column == name);
        let values = |name: &str| -> Option<Vec<&Value>> {
            let column = column(name)?;
            Some(rows.rows.iter().map(|row| &row[column]).collect())
        };
        if rows.rows.is_empty() {
            return None;
        }
        match self {
            Chart::Columns { x, value, series } => {
                let series = match series {
                    Some(series) => texts(&values(series)?),
                    None => vec![String::new(); rows.rows.len()],
                };
                let x = texts(&values(x)?);
                Some(columns(&x, &numbers(&values(value)?), &series, value))
            }
            Chart::Bars { label, value } => {
                let labels = texts(&values(label)?);
                Some(bars(&labels, &numbers(&values(value)?), value))
            }
            Chart::Lines { x, values: names } => {
                let lines = names
                    .iter()
                    .map(|name| Some((*name, numbers(&values(name)?))))
                    .collect::<Option<Vec<_>>>()?;
                Some(lines_of(&texts(&values(x)?), &lines))
            }
            Chart::Calendar { day, value } => {
                calendar(&texts(&values(day)?), &numbers(&values(value)?), value)
            }
            Chart::Hours {
                weekday,
                hour,
                value,
            } => {
                let (weekday, hour) = (numbers(&values(weekday)?), numbers(&values(hour)?));
                Some(hours(&weekday, &hour, &numbers(&values(value)?), value))
            }
        }
    }
}

fn texts(values: &[&Value]) -> Vec<String> {
    values.iter().map(|value| text(value)).collect()
}

fn numbers(values: &[&Value]) -> Vec<f64> {
    let number = |value: &&Value| match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        _ => 0.0,
    };
    values.iter().map(number).collect()
}

/// A value as the axis and the tooltips show it.
fn shown(value: f64, column: &str) -> String {
    let value = Value::Real(value);
    let kind = Kind::of(column, std::iter::once(&value));
    let unit = if kind == Kind::Money { "$" } else { "" };
    format!("{unit}{}", kind.cell(&value))
}

/// Like [`shown`], short enough for the space beside the plot.
fn axis_label(value: f64, column: &str) -> String {
    match Kind::of(column, std::iter::once(&Value::Real(value))) {
        Kind::Tokens | Kind::Count | Kind::Decimal(_) if value >= 10_000.0 => {
            abbreviated(value as i64)
        }
        _ => shown(value, column),
    }
}

/// The values of an axis without gaps: all days or weeks from the first to the last, if they are dates.
fn continuous(x: &[String]) -> Vec<String> {
    let mut values = x.to_vec();
    values.sort();
    values.dedup();
    let days: Option<Vec<Date>> = values
        .iter()
        .map(|value| Date::parse(value, DAY).ok())
        .collect();
    let Some(days) = days.filter(|days| days.len() > 1) else {
        return values;
    };
    let gaps = days.windows(2).map(|pair| (pair[1] - pair[0]).whole_days());
    let step = if gaps.clone().all(|gap| gap % 7 == 0) {
        7
    } else {
        1
    };
    let mut filled = Vec::new();
    let mut day = days[0];
    while day <= days[days.len() - 1] {
        filled.push(day.format(DAY).expect("a date has a day"));
        day += Duration::days(step);
    }
    filled
}

/// A round number at or above the largest value, and the distance of its grid lines.
fn scale(largest: f64) -> (f64, f64) {
    if largest <= 0.0 {
        return (1.0, 1.0);
    }
    let power = 10f64.powf((largest / 4.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| step * 4.0 >= largest);
    let step = step.unwrap_or(10.0 * power);
    ((largest / step).ceil() * step, step)
}

fn svg(width: f64, height: f64, label: &str, body: &str) -> String {
    format!(
        "<div class=\"chart\"><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{}\">{body}</svg></div>",
        escape(label)
    )
}

fn grid(largest: f64, step: f64, column: &str) -> String {
    let mut body = String::new();
    let mut value = 0.0;
    while value <= largest * 1.0001 {
        let y = TOP + PLOT_HEIGHT * (1.0 - value / largest);
        let _ = write!(
            body,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT + PLOT_WIDTH,
            LEFT - 6.0,
            y + 4.0,
            escape(&axis_label(value, column))
        );
        value += step;
    }
    body
}

/// Labels of the x axis, as many as there is room for.
fn ticks(x: &[String]) -> String {
    let mut body = String::new();
    let widest = x.iter().map(|value| value.chars().count()).max();
    let room = PLOT_WIDTH / (CHARACTER_WIDTH * (widest.unwrap_or(0) + 2) as f64);
    let every = x.len().div_ceil((room as usize).clamp(1, 8)).max(1);
    let width = PLOT_WIDTH / x.len() as f64;
    for (index, value) in x.iter().enumerate().step_by(every) {
        let centre = LEFT + width * (index as f64 + 0.5);
        let _ = write!(
            body,
            "<text x=\"{centre:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 6.0,
            escape(value)
        );
    }
    body
}

/// Series with their totals, the largest first; those without a colour of their own are one.
fn ranked(series: &[String], values: &[f64]) -> Vec<String> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, value) in series.iter().zip(values) {
        *totals.entry(name).or_default() += value;
    }
    let mut ranked: Vec<(&str, f64)> = totals.into_iter().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut names: Vec<String> = ranked
        .into_iter()
        .map(|(name, _)| name.to_string())
        .collect();
    if names.len() > COLOURS {
        names.truncate(COLOURS - 1);
        names.push(OTHERS.to_string());
    }
    names
}

fn legend(names: &[&str]) -> String {
    let mut body = "<p class=\"legend\">".to_string();
    for (index, name) in names.iter().enumerate() {
        let _ = write!(body, "<span class=\"c{index}\">■</span> {} ", escape(name));
    }
    body + "</p>"
}

fn columns(x: &[String], values: &[f64], series: &[String], column: &str) -> String {
    let axis = continuous(x);
    let names = ranked(series, values);
    let place = |value: &String| axis.iter().position(|other| other == value);
    let mut sums = vec![vec![0.0; names.len()]; axis.len()];
    for ((x, value), name) in x.iter().zip(values).zip(series) {
        let colour = names.iter().position(|other| other == name);
        if let Some(place) = place(x) {
            sums[place][colour.unwrap_or(names.len() - 1)] += value;
        }
    }
    let totals = sums.iter().map(|parts| parts.iter().sum::<f64>());
    let (largest, step) = scale(totals.fold(0.0, f64::max));
    let mut body = grid(largest, step, column) + &ticks(&axis);
    // A bar of one day does not fill the whole width.
    let width = (PLOT_WIDTH / axis.len() as f64).min(48.0);
    let slot = PLOT_WIDTH / axis.len() as f64;
    for (place, parts) in sums.iter().enumerate() {
        let left = LEFT + slot * (place as f64 + 0.5) - width * 0.42;
        let mut y = TOP + PLOT_HEIGHT;
        for (index, value) in parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let height = PLOT_HEIGHT * value / largest;
            y -= height;
            let name = if names[index].is_empty() { "" } else { ", " };
            let _ = write!(
                body,
                "<rect class=\"c{index}\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\">\
                 <title>{}{name}{}: {}</title></rect>",
                width * 0.84,
                escape(&axis[place]),
                escape(&names[index]),
                escape(&shown(*value, column))
            );
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let legend = match names.as_slice() {
        [""] => String::new(),
        names => legend(names),
    };
    svg(WIDTH, HEIGHT, column, &body) + &legend
}

fn bars(labels: &[String], values: &[f64], column: &str) -> String {
    const ROW: f64 = 24.0;
    const LABEL: f64 = 280.0;
    let rows: Vec<(&String, &f64)> = labels.iter().zip(values).take(BARS).collect();
    let largest = rows.iter().map(|(_, value)| **value).fold(0.0, f64::max);
    let mut body = String::new();
    for (index, (label, value)) in rows.iter().enumerate() {
        let y = ROW * index as f64;
        let line = label.lines().next().unwrap_or_default();
        let short: String = match line.chars().count() > 40 {
            true => line.chars().take(39).chain(['…']).collect(),
            false => line.to_string(),
        };
        let width = match largest > 0.0 {
            true => (WIDTH - LABEL - 90.0) * *value / largest,
            false => 0.0,
        };
        let _ = write!(
            body,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}<title>{}</title></text>\
             <rect class=\"c0\" x=\"{LABEL}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LABEL - 8.0,
            y + 15.0,
            escape(&short),
            escape(line),
            y + 3.0,
            LABEL + width + 6.0,
            y + 15.0,
            escape(&shown(**value, column))
        );
    }
    svg(WIDTH, ROW * rows.len() as f64, column, &body)
}

fn lines_of(x: &[String], lines: &[(&str, Vec<f64>)]) -> String {
    let axis = continuous(x);
    let all = lines.iter().flat_map(|(_, values)| values.iter().copied());
    let (largest, step) = scale(all.fold(0.0, f64::max));
    let slot = PLOT_WIDTH / axis.len() as f64;
    let mut body = grid(largest, step, lines[0].0) + &ticks(&axis);
    for (index, (name, values)) in lines.iter().enumerate() {
        let mut points = String::new();
        let mut dots = String::new();
        for (x, value) in x.iter().zip(values) {
            let Some(place) = axis.iter().position(|other| other == x) else {
                continue;
            };
            let left = LEFT + slot * (place as f64 + 0.5);
            let y = TOP + PLOT_HEIGHT * (1.0 - value / largest);
            let _ = write!(points, "{left:.1},{y:.1} ");
            let _ = write!(
                dots,
                "<circle class=\"c{index}\" cx=\"{left:.1}\" cy=\"{y:.1}\" r=\"2.5\"><title>{}, {}: {}</title></circle>",
                escape(x),
                escape(&name.replace('_', " ")),
                escape(&shown(*value, name))
            );
        }
        let _ = write!(
            body,
            "<polyline class=\"s{index}\" points=\"{points}\"/>{dots}"
        );
    }
    let names: Vec<String> = lines
        .iter()
        .map(|(name, _)| name.replace('_', " "))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    svg(WIDTH, HEIGHT, "lines", &body) + &legend(&names)
}

/// The shade of a square: 0 for nothing, else 1 to 4.
fn shade(value: f64, largest: f64) -> usize {
    match value > 0.0 && largest > 0.0 {
        true => ((value / largest * 4.0).ceil() as usize).clamp(1, 4),
        false => 0,
    }
}

fn square(x: f64, y: f64, size: f64, shade: usize, title: &str) -> String {
    format!(
        "<rect class=\"h{shade}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size}\" height=\"{size}\" rx=\"2\"><title>{}</title></rect>",
        escape(title)
    )
}

/// The year up to the last day.
fn calendar(days: &[String], values: &[f64], column: &str) -> Option<String> {
    const SIZE: f64 = 12.9;
    const WEEKS: i64 = 53;
    let mut sums: BTreeMap<Date, f64> = BTreeMap::new();
    for (day, value) in days.iter().zip(values) {
        if let Ok(day) = Date::parse(day, DAY) {
            *sums.entry(day).or_default() += value;
        }
    }
    let last = *sums.keys().next_back()?;
    let weekday = |day: Date| i64::from(day.weekday().number_days_from_monday());
    let first = last - Duration::days(weekday(last) + 7 * (WEEKS - 1));
    let largest = sums
        .range(first..)
        .map(|(_, value)| *value)
        .fold(0.0, f64::max);
    let mut body = String::new();
    let mut day = first;
    let mut month = None;
    while day <= last {
        let week = ((day - first).whole_days() / 7) as f64;
        let x = 32.0 + week * SIZE;
        if weekday(day) == 0 && month != Some(day.month()) {
            let name = day.month().to_string();
            // The first week may hold the end of a month, whose name would cover the next one.
            if month.is_some() || day.day() < 15 {
                let _ = write!(body, "<text x=\"{x:.1}\" y=\"10\">{}</text>", &name[..3]);
            }
            month = Some(day.month());
        }
        let value = sums.get(&day).copied().unwrap_or_default();
        let title = format!("{day}: {}", shown(value, column));
        let y = 16.0 + weekday(day) as f64 * SIZE;
        body += &square(x, y, SIZE - 2.0, shade(value, largest), &title);
        day += Duration::days(1);
    }
    for (row, name) in [(0.0, "Mon"), (2.0, "Wed"), (4.0, "Fri")] {
        let y = 16.0 + row * SIZE + 9.0;
        let _ = write!(body, "<text x=\"0\" y=\"{y:.1}\">{name}</text>");
    }
    Some(svg(WIDTH, 16.0 + 7.0 * SIZE, column, &body))
}

fn hours(weekdays: &[f64], hours: &[f64], values: &[f64], column: &str) -> String {
    const SIZE: f64 = 27.0;
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let largest = values.iter().copied().fold(0.0, f64::max);
    let mut sums = [[0.0; 24]; 7];
    for ((weekday, hour), value) in weekdays.iter().zip(hours).zip(values) {
        // The week begins on Monday.
        let (row, hour) = ((*weekday as usize + 6) % 7, *hour as usize);
        if hour < 24 {
            sums[row][hour] += value;
        }
    }
    let mut body = String::new();
    for (row, name) in WEEKDAYS.iter().enumerate() {
        let y = 16.0 + row as f64 * SIZE * 0.8;
        let _ = write!(body, "<text x=\"0\" y=\"{:.1}\">{name}</text>", y + 14.0);
        for (hour, value) in sums[row].iter().enumerate() {
            let x = 40.0 + hour as f64 * SIZE;
            let title = format!("{name} {hour}:00: {}", shown(*value, column));
            body += &format!(
                "<rect class=\"h{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{}\" rx=\"2\"><title>{}</title></rect>",
                shade(*value, largest),
                SIZE - 2.0,
                SIZE * 0.8 - 2.0,
                escape(&title)
            );
        }
    }
    for hour in (0..24).step_by(3) {
        let x = 40.0 + hour as f64 * SIZE;
        let _ = write!(body, "<text x=\"{x:.1}\" y=\"10\">{hour}:00</text>");
    }
    svg(WIDTH, 16.0 + 7.0 * SIZE * 0.8, column, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&str], rows: &[(&str, f64)]) -> QueryRows {
        QueryRows {
            columns: columns.iter().map(|name| name.to_string()).collect(),
            rows: rows
                .iter()
                .map(|(x, value)| vec![Value::Text(x.to_string()), Value::Real(*value)])
                .collect(),
        }
    }

    #[test]
    fn days_without_a_row_keep_their_place() {
        let days = ["2026-02-27", "2026-03-02"].map(str::to_string);
        assert_eq!(continuous(&days).len(), 4);
        let weeks = ["2026-03-02", "2026-03-23"].map(str::to_string);
        assert_eq!(continuous(&weeks).len(), 4);
        let names = ["b", "a", "b"].map(str::to_string);
        assert_eq!(continuous(&names), ["a", "b"]);
    }

    #[test]
    fn labels_have_room() {
        assert_eq!(axis_label(40_000_000.0, "total_tokens"), "40.0M");
        assert_eq!(axis_label(7.5, "cost_usd"), "$7.50");
        let x = |label: &str| vec![label.to_string(); 40];
        assert_eq!(ticks(&x("2026-01-05")).matches("<text").count(), 8);
        assert_eq!(ticks(&x("2026-01-05 12:00")).matches("<text").count(), 5);
    }

    #[test]
    fn an_axis_ends_at_a_round_number() {
        assert_eq!(scale(0.0), (1.0, 1.0));
        assert_eq!(scale(7.3), (8.0, 2.0));
        assert_eq!(scale(100.0), (100.0, 25.0));
    }

    #[test]
    fn text_in_a_chart_is_escaped() {
        let chart = Chart::parse("bars name cost_usd").unwrap();
        let drawn = chart
            .draw(&rows(&["name", "cost_usd"], &[("<b>", 1.5)]))
            .unwrap();
        assert!(
            drawn.contains("&lt;b&gt;") && drawn.contains("$1.50"),
            "{drawn}"
        );
        assert!(
            chart
                .draw(&rows(&["name", "other"], &[("a", 1.0)]))
                .is_none()
        );
    }

    #[test]
    fn series_beyond_the_colours_are_one() {
        let names: Vec<String> = (0..20).map(|name| name.to_string()).collect();
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let ranked = ranked(&names, &values);
        assert_eq!((ranked.len(), ranked[0].as_str()), (COLOURS, "19"));
        assert_eq!(ranked[COLOURS - 1], OTHERS);
    }
}
