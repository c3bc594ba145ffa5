//! Questions: statements with a header that says what they are about, how to read their rows, and which parameters they
//! have. Those that ship with the program are `queries/*.sql`; a user's own are in the folder `queries` of the data folder.

use crate::database::{self, ADVICE, statements};
use crate::dates;
use crate::error::{Error, Result};
use crate::time_zone::TimeZone;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The name of its file, without the extension.
    pub name: String,
    pub title: String,
    pub how_to_read: String,
    /// Where it is listed.
    pub group: String,
    pub parameters: Vec<Parameter>,
    /// The column to draw a bar for.
    pub bar: Option<String>,
    /// The chart in the report, as `report::chart::Chart` parses it.
    pub chart: Option<String>,
    /// The columns whose sums are below the table.
    pub totals: Vec<String>,
    /// The statement, with its header.
    pub sql: String,
}

/// A parameter of a question: `-- :limit number - rows to show; 20 without it`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub kind: Kind,
    pub meaning: String,
}

/// The type of a parameter; text if its header has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Number,
    /// A day or a period, of which the statement gets the first day.
    FirstDay,
    /// A day or a period, of which the statement gets the last day.
    LastDay,
}

impl Parameter {
    /// What holds if it is not given.
    pub fn default(&self) -> Option<&str> {
        let (_, last) = self.meaning.rsplit_once("; ")?;
        last.strip_suffix(" without it")
    }
}

/// The group of a user's own questions.
pub const OWN: &str = "own";

/// The groups, in the order in which they are listed.
const GROUPS: [&str; 8] = [
    "cost",
    "cache",
    "waste",
    "conversation",
    "tools",
    "feedback",
    "data",
    OWN,
];

/// All questions, by group and name. A user's own question takes the place of one of the same name.
pub fn all(folder: Option<&Path>) -> Result<Vec<Question>> {
    let mut questions = builtin();
    for own in folder.map(own).transpose()?.into_iter().flatten() {
        questions.retain(|question| question.name != own.name);
        questions.push(own);
    }
    questions.sort_by_cached_key(|question| (group_place(&question.group), question.name.clone()));
    Ok(questions)
}

/// The place of a group in the list.
pub fn group_place(name: &str) -> Option<usize> {
    GROUPS.iter().position(|group| *group == name)
}

/// The questions that ship with the program, by name.
pub fn builtin() -> Vec<Question> {
    let parsed = |(name, sql): &(&str, &str)| parse(name, sql);
    let mut questions: Vec<Question> = database::QUERIES.iter().map(parsed).collect();
    questions.push(advice());
    questions.sort_by(|one, other| one.name.cmp(&other.name));
    questions
}

/// The question that ranks the findings of every file in `sql/advice`.
pub fn advice() -> Question {
    let findings = |(_, sql): &(&str, &str)| format!("select * from (\n{}\n)", sql.trim_end());
    let findings: Vec<String> = ADVICE.iter().map(findings).collect();
    let sql = statements::RANK_ADVICE.replace(
        "-- Every file of sql/advice",
        &findings.join("\nunion all\n"),
    );
    parse("advice", &sql)
}

fn own(folder: &Path) -> Result<Vec<Question>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut questions = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            questions.push(Question {
                group: OWN.to_string(),
                ..read(&path)?
            });
        }
    }
    Ok(questions)
}

/// A question in a file.
pub fn read(path: &Path) -> Result<Question> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let sql = std::fs::read_to_string(path).map_err(Error::io(path))?;
    Ok(parse(&name, &sql))
}

/// Parses the header of a question.
pub fn parse(name: &str, sql: &str) -> Question {
    let mut question = Question {
        name: name.to_string(),
        sql: sql.to_string(),
        ..Question::default()
    };
    for line in sql.lines().map_while(|line| line.strip_prefix("-- ")) {
        if let Some(text) = line.strip_prefix("How to read: ") {
            question.how_to_read = text.to_string();
        } else if let Some(group) = line.strip_prefix("Group: ") {
            question.group = group.to_string();
        } else if let Some(column) = line.strip_prefix("Bar: ") {
            question.bar = Some(column.to_string());
        } else if let Some(chart) = line.strip_prefix("Chart: ") {
            question.chart = Some(chart.to_string());
        } else if let Some(columns) = line.strip_prefix("Total: ") {
            question.totals = columns.split(", ").map(str::to_string).collect();
        } else if let Some((declaration, meaning)) = line
            .strip_prefix(':')
            .and_then(|rest| rest.split_once(" - "))
        {
            let (name, kind) = declaration.split_once(' ').unwrap_or((declaration, ""));
            let kind = match kind {
                "number" => Kind::Number,
                "first_day" => Kind::FirstDay,
                "last_day" => Kind::LastDay,
                _ => Kind::Text,
            };
            question.parameters.push(Parameter {
                name: name.to_string(),
                kind,
                meaning: meaning.to_string(),
            });
        } else if question.title.is_empty() {
            question.title = line.to_string();
        }
    }
    question
}

impl Question {
    pub fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|known| known.name == parameter)
    }

    /// Converts the arguments to what the statement expects. An empty argument is the same as none.
    pub fn interpret(
        &self,
        arguments: &[(String, String)],
        zone: &TimeZone,
    ) -> Result<Vec<(String, String)>> {
        let value = |(name, text): &(String, String)| {
            let parameter = self.parameters.iter().find(|other| other.name == *name);
            let value = match parameter.map_or(Kind::Text, |parameter| parameter.kind) {
                _ if text.is_empty() => Ok(text.clone()),
                Kind::Text => Ok(text.clone()),
                Kind::Number => match text.trim().parse::<i64>() {
                    Ok(number) => Ok(number.to_string()),
                    Err(_) => Err(format!("{text:?} is not a whole number")),
                },
                Kind::FirstDay => dates::first_day(text, zone.today()),
                Kind::LastDay => dates::last_day(text, zone.today()),
            };
            match value {
                Ok(value) => Ok((name.clone(), value)),
                Err(problem) => Err(Error::Usage(format!("{name}: {problem}"))),
            }
        };
        arguments.iter().map(value).collect()
    }

    /// The statement that adds up its totals; none if it has none.
    pub fn totals_sql(&self) -> Option<String> {
        let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
        let sums = self
            .totals
            .iter()
            .map(|name| format!("sum({0}) as {0}", quoted(name)));
        let sums = sums.collect::<Vec<_>>().join(", ");
        let statement = self.sql.trim_end().trim_end_matches(';');
        (!sums.is_empty()).then(|| format!("select {sums} from (\n{statement}\n)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_a_title_and_explains_its_rows() {
        let questions = builtin();
        assert!(questions.len() >= 30);
        for question in questions {
            assert!(
                !question.title.is_empty()
                    && !question.how_to_read.is_empty()
                    && GROUPS.contains(&question.group.as_str()),
                "{}",
                question.name
            );
            for Parameter {
                name,
                kind,
                meaning,
            } in &question.parameters
            {
                let kind = match kind {
                    Kind::Text => "",
                    Kind::Number => " number",
                    Kind::FirstDay => " first_day",
                    Kind::LastDay => " last_day",
                };
                assert!(
                    question.sql.contains(&format!("-- :{name}{kind} - "))
                        && question.sql.contains(&format!("(:{name}, ")),
                    "{}: :{name}",
                    question.name
                );
                assert!(!meaning.is_empty());
            }
            let statement: String = question
                .sql
                .lines()
                .filter(|line| !line.starts_with("-- "))
                .collect();
            for word in statement.split(|character: char| {
                !character.is_alphanumeric() && character != ':' && character != '_'
            }) {
                if let Some(name) = word.strip_prefix(':').filter(|name| !name.is_empty()) {
                    assert!(
                        question.parameters.iter().any(|known| known.name == name),
                        "{}: :{name} has no description",
                        question.name
                    );
                }
            }
        }
    }

    #[test]
    fn defaults_are_those_of_the_statements() {
        for question in builtin() {
            for parameter in &question.parameters {
                let default = parameter.default().unwrap_or_else(|| {
                    panic!("{}: :{} has no default", question.name, parameter.name)
                });
                if parameter.kind == Kind::Number {
                    let used = format!("coalesce(nullif(:{}, ''), {default})", parameter.name);
                    assert!(question.sql.contains(&used), "{}: {used}", question.name);
                }
            }
        }
    }

    #[test]
    fn an_own_question_takes_the_place_of_one_of_the_same_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, sql: &str| std::fs::write(folder.path().join(name), sql).unwrap();
        write("daily.sql", "-- My days\nselect 1");
        write("mine.sql", "select 2");
        write("notes.txt", "no question");
        let all = all(Some(folder.path())).unwrap();
        assert_eq!(all.len(), builtin().len() + 1);
        let own: Vec<&Question> = all
            .iter()
            .filter(|question| question.group == OWN)
            .collect();
        assert_eq!(
            [own[0].title.as_str(), own[1].name.as_str()],
            ["My days", "mine"]
        );
        assert!(all.ends_with(&[own[0].clone(), own[1].clone()]));
    }
}
