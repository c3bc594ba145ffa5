//! What tells the scheduler of an operating system to run a command every few minutes.
//!
//! Only texts: every function is pure, so that the files of each system can be examined on any other.

use clap::ValueEnum;
use std::str::FromStr;

/// The name of the job in every scheduler.
pub const NAME: &str = "cc-etl-sync";

/// A file that lacks this was written by somebody else.
pub const MARK: &str = "Written by cc-etl service install; cc-etl service remove deletes it.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// A timer of systemd, for this user
    Systemd,
    /// A launch agent of macOS
    Launchd,
    /// A line in the crontab of this user
    Cron,
    /// A task of the Windows Task Scheduler
    Windows,
}

impl Scheduler {
    pub const ALL: [Scheduler; 4] = [
        Scheduler::Systemd,
        Scheduler::Launchd,
        Scheduler::Cron,
        Scheduler::Windows,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Systemd => "systemd timer",
            Scheduler::Launchd => "launch agent",
            Scheduler::Cron => "line in the crontab",
            Scheduler::Windows => "scheduled task",
        }
    }
}

/// The time between two runs, in minutes: at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval(pub u32);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Interval, String> {
        const DAY: u32 = 24 * 60;
        let number = text.trim_end_matches(['m', 'h', 'd']);
        let unit = match &text[number.len()..] {
            "m" => 1,
            "h" => 60,
            "d" => DAY,
            _ => 0,
        };
        let minutes = number.parse::<u32>().ok();
        match minutes.and_then(|count| count.checked_mul(unit)) {
            Some(minutes @ 1..=DAY) => Ok(Interval(minutes)),
            _ => Err("expected minutes or hours, such as 15m or 2h, at most 1d".to_string()),
        }
    }
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Job {
    /// An absolute path.
    pub program: String,
    pub arguments: Vec<String>,
    /// Variables that the scheduler does not know.
    pub environment: Vec<(String, String)>,
    pub every: Interval,
}

impl Job {
    /// Why no scheduler can run this.
    pub fn refusal(&self) -> Option<String> {
        let values = self.environment.iter().map(|(_, value)| value);
        let mut texts = [&self.program]
            .into_iter()
            .chain(&self.arguments)
            .chain(values);
        let text = texts.find(|text| text.chars().any(char::is_control))?;
        Some(format!("{text:?} has a control character"))
    }
}

/// The interval in words, after "every".
pub fn period(every: Interval) -> String {
    match every.0 {
        1 => "minute".to_string(),
        60 => "hour".to_string(),
        minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
        minutes => format!("{minutes} minutes"),
    }
}

/// Whether a word means itself in shells and in units of systemd.
fn is_plain(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@=".contains(letter);
    !word.is_empty() && word.chars().all(is_plain)
}

/// A word for a POSIX shell. It has no backslash that the word does not have: programs that pass a line to a shell differ in what
/// they do with one.
pub fn shell_word(word: &str) -> String {
    match is_plain(word) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r#"'"'"'"#)),
    }
}

/// How a scheduler writes an argument of a command.
fn argument(scheduler: Scheduler, word: &str) -> String {
    match scheduler {
        // A dollar begins a variable.
        Scheduler::Systemd => systemd_word(word).replace('$', "$$"),
        Scheduler::Launchd => xml(word),
        // A percent sign ends the line.
        Scheduler::Cron => shell_word(word).replace('%', r"\%"),
        Scheduler::Windows => xml(&windows_word(word)),
    }
}

fn arguments(scheduler: Scheduler, job: &Job) -> Vec<String> {
    let arguments = job.arguments.iter();
    arguments.map(|word| argument(scheduler, word)).collect()
}

/// Whether a text of this scheduler gives its command this argument.
pub fn has_argument(scheduler: Scheduler, text: &str, word: &str) -> bool {
    let written = argument(scheduler, word);
    let mut places = text.match_indices(&written);
    places.any(|(at, _)| {
        let next = text[at + written.len()..].chars().next();
        next.is_none_or(|next| next.is_whitespace() || next == '<')
    })
}

/// A word of a unit. A dollar means itself in the path of the program and in an assignment.
fn systemd_word(word: &str) -> String {
    if is_plain(word) {
        return word.to_string();
    }
    let word = word.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{}\"", word.replace('%', "%%"))
}

/// The units of systemd: the service, and the timer that starts it.
pub fn systemd_service(job: &Job) -> Result<String, String> {
    if job.program.contains(['"', '\'', '\\']) {
        return Err(format!(
            "systemd does not run {}: its path has a quotation mark or a backslash",
            job.program
        ));
    }
    let environment = job.environment.iter();
    let environment = environment.map(|(name, value)| {
        let assignment = format!("{name}={value}");
        format!("Environment={}\n", systemd_word(&assignment))
    });
    Ok(format!(
        "# {MARK}
[Unit]
Description=Import new transcripts of Claude Code

[Service]
Type=oneshot
Nice=10
{}ExecStart={} {}
",
        environment.collect::<String>(),
        systemd_word(&job.program),
        arguments(Scheduler::Systemd, job).join(" ")
    ))
}

pub fn systemd_timer(job: &Job) -> String {
    format!(
        "# {MARK}
[Unit]
Description=Import new transcripts of Claude Code every {}

[Timer]
OnStartupSec=1min
OnUnitInactiveSec={}min

[Install]
WantedBy=timers.target
",
        period(job.every),
        job.every.0
    )
}

fn xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

/// The property list of launchd.
pub fn launch_agent(job: &Job) -> String {
    let words = [xml(&job.program)].into_iter();
    let words = words.chain(arguments(Scheduler::Launchd, job));
    let words: String = words
        .map(|word| format!("        <string>{word}</string>\n"))
        .collect();
    let variables = job.environment.iter().map(|(name, value)| {
        format!(
            "        <key>{}</key>\n        <string>{}</string>\n",
            xml(name),
            xml(value)
        )
    });
    let variables = variables.collect::<String>();
    let variables = match variables.as_str() {
        "" => String::new(),
        variables => {
            format!("    <key>EnvironmentVariables</key>\n    <dict>\n{variables}    </dict>\n")
        }
    };
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- {MARK} -->
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>{NAME}</string>
    <key>ProgramArguments</key>
    <array>
{words}    </array>
{variables}    <key>RunAtLoad</key>
    <true/>
    <key>StartInterval</key>
    <integer>{}</integer>
    <key>ProcessType</key>
    <string>Background</string>
</dict>
</plist>
"#,
        job.every.0 * 60
    )
}

/// A word of a Windows command line, as programs split it.
fn windows_word(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '"']) {
        return word.to_string();
    }
    let mut quoted = "\"".to_string();
    let mut backslashes = 0;
    for letter in word.chars() {
        // Backslashes mean themselves, unless a quotation mark follows.
        let escapes = if letter == '"' { backslashes + 1 } else { 0 };
        quoted.extend(std::iter::repeat_n('\\', escapes));
        quoted.push(letter);
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
    }
    quoted.extend(std::iter::repeat_n('\\', backslashes));
    quoted + "\""
}

/// The task of Windows. `conhost --headless` runs a console program without its window.
pub fn windows_task(job: &Job) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-16"?>
<!-- {MARK} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Import new transcripts of Claude Code</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Repetition>
        <Interval>PT{}M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT2H</ExecutionTimeLimit>
    <Priority>7</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\System32\conhost.exe</Command>
      <Arguments>--headless {} {}</Arguments>
    </Exec>
  </Actions>
</Task>
"#,
        job.every.0,
        argument(Scheduler::Windows, &job.program),
        arguments(Scheduler::Windows, job).join(" ")
    )
}

/// How the line in a crontab ends, by what was there before it. It is taken away accordingly.
const AFTER_LINES: &str = " # cc-etl service";
const ALONE: &str = " # cc-etl service, in a new crontab";
const AFTER_PART: &str = " # cc-etl service, after a line without its end";
const ENDS: [&str; 3] = [AFTER_LINES, ALONE, AFTER_PART];

/// The line of a crontab, without its end.
pub fn cron_line(job: &Job) -> Result<String, String> {
    let word = |word: &str| argument(Scheduler::Cron, word);
    let environment = job.environment.iter();
    let environment = environment.map(|(name, value)| format!("{name}={} ", word(value)));
    let environment = environment.collect::<String>();
    let words = arguments(Scheduler::Cron, job).join(" ");
    let command = format!("{environment}{} {words}", word(&job.program));
    if command.replace(r"\%", "").contains('\\') {
        return Err("a crontab cannot hold a path with a backslash".to_string());
    }
    let schedule = match job.every.0 {
        1440 => "0 0 * * *".to_string(),
        minutes if minutes < 60 && 60 % minutes == 0 => format!("*/{minutes} * * * *"),
        minutes if minutes % 60 == 0 && 24 % (minutes / 60) == 0 => {
            format!("0 */{} * * *", minutes / 60)
        }
        _ => {
            let message = "cron cannot count this interval: give minutes that divide an hour, or hours that divide a day";
            return Err(message.to_string());
        }
    };
    Ok(format!("{schedule} {command}"))
}

/// The line of ours in a crontab, without its end.
pub fn cron_line_in(crontab: &str) -> Option<&str> {
    let lines = crontab.lines();
    let mut ours = lines.filter_map(|line| ENDS.iter().find_map(|end| line.strip_suffix(end)));
    ours.next_back()
}

/// The crontab with the line. None is a user without a crontab.
pub fn cron_with(crontab: Option<&str>, line: &str) -> String {
    let Some(before) = crontab else {
        return format!("{line}{ALONE}\n");
    };
    if let Some(old) = cron_line_in(before) {
        let start = old.as_ptr().addr() - before.as_ptr().addr();
        let (head, tail) = (&before[..start], &before[start + old.len()..]);
        return format!("{head}{line}{tail}");
    }
    match before.is_empty() || before.ends_with('\n') {
        true => format!("{before}{line}{AFTER_LINES}\n"),
        false => format!("{before}\n{line}{AFTER_PART}\n"),
    }
}

/// The crontab without the line; none if there was no crontab before it.
pub fn cron_without(crontab: &str) -> Option<String> {
    let Some(line) = cron_line_in(crontab) else {
        return Some(crontab.to_string());
    };
    let start = line.as_ptr().addr() - crontab.as_ptr().addr();
    let end = start + line.len();
    let (mark, after) = match crontab[end..].split_once('\n') {
        Some((mark, after)) => (mark, after),
        None => (&crontab[end..], ""),
    };
    let before = &crontab[..start];
    let before = match mark == AFTER_PART && after.is_empty() {
        true => before.strip_suffix('\n').unwrap_or(before),
        false => before,
    };
    let rest = format!("{before}{after}");
    (mark != ALONE || !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(program: &str, database: &str) -> Job {
        Job {
            program: program.to_string(),
            arguments: ["sync", "--db", database].map(str::to_string).to_vec(),
            environment: Vec::new(),
            every: Interval(15),
        }
    }

    #[test]
    fn an_interval_is_a_number_of_minutes_or_hours() {
        let parse = |text: &str| text.parse::<Interval>().map(|every| every.0).ok();
        for (text, minutes) in [
            ("15m", 15),
            ("1m", 1),
            ("2h", 120),
            ("24h", 1440),
            ("1d", 1440),
        ] {
            assert_eq!(parse(text), Some(minutes));
        }
        for text in [
            "",
            "m",
            "15",
            "0m",
            "25h",
            "2d",
            "1mh",
            "-5m",
            "4294967295h",
            "15 m",
            "1s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_program_of_windows_splits_its_command_line_into_the_same_words() {
        for (word, quoted) in [
            (r"C:\cc-etl.exe", r"C:\cc-etl.exe"),
            (r"C:\a b\", r#""C:\a b\\""#),
            ("", r#""""#),
            (r#"a"b"#, r#""a\"b""#),
            (r#"a\\"b c"#, r#""a\\\\\"b c""#),
            ("100%&$", "100%&$"),
        ] {
            assert_eq!(windows_word(word), quoted);
        }
    }

    #[test]
    fn a_dollar_is_doubled_in_arguments_of_systemd_only() {
        let mut job = job("/a$b/cc-etl", "/x y/$HOME%h\"\\.db");
        job.environment = vec![("XDG_DATA_HOME".to_string(), "/d $x%".to_string())];
        let service = systemd_service(&job).unwrap();
        let line = r#"ExecStart="/a$b/cc-etl" sync --db "/x y/$$HOME%%h\"\\.db""#;
        assert!(service.contains(line), "{service}");
        let variable = "Environment=\"XDG_DATA_HOME=/d $x%%\"\n";
        assert!(service.contains(variable), "{service}");
        job.program = "/it's/cc-etl".to_string();
        assert!(systemd_service(&job).is_err());
    }

    #[test]
    fn a_crontab_is_given_back_byte_for_byte() {
        let line = cron_line(&job("/a b/it's/cc-etl", "/50%.db")).unwrap();
        assert_eq!(
            line,
            r#"*/15 * * * * '/a b/it'"'"'s/cc-etl' sync --db '/50\%.db'"#
        );
        let other = cron_line(&job("/cc-etl", "/x.db")).unwrap();
        for before in [
            None,
            Some(""),
            Some("\n"),
            Some("# mine\n0 * * * * true\n"),
            Some("0 * * * * true"),
            Some("MAILTO=me\r\n\n\n"),
        ] {
            let with = cron_with(before, &line);
            assert_eq!(cron_line_in(&with), Some(line.as_str()));
            assert_eq!(cron_with(Some(&with), &line), with);
            assert_eq!(cron_without(&with).as_deref(), before, "{with}");
            let changed = cron_with(Some(&with), &other);
            assert_eq!(cron_line_in(&changed), Some(other.as_str()));
            assert_eq!(cron_without(&changed).as_deref(), before);
            // The user adds a line.
            let longer = format!("{with}5 5 * * * true\n");
            let left = cron_without(&longer).unwrap();
            let ours = left.contains("cc-etl");
            assert!(left.ends_with("5 5 * * * true\n") && !ours, "{left}");
            assert!(left.starts_with(before.unwrap_or_default()));
        }
        assert_eq!(cron_without("a\n").as_deref(), Some("a\n"));
    }

    #[test]
    fn cron_refuses_what_it_cannot_hold() {
        assert!(cron_line(&job(r"/a\b", "/x")).is_err());
        for (minutes, schedule) in [
            (1, Some("*/1 * * * *")),
            (30, Some("*/30 * * * *")),
            (60, Some("0 */1 * * *")),
            (480, Some("0 */8 * * *")),
            (1440, Some("0 0 * * *")),
            (7, None),
            (90, None),
            (300, None),
        ] {
            let mut job = job("/c", "/x");
            job.every = Interval(minutes);
            let line = cron_line(&job).ok();
            let expected = schedule.map(|schedule| format!("{schedule} /c sync --db /x"));
            assert_eq!(line, expected);
        }
        assert!(job("/a\nb", "/x").refusal().is_some());
        assert!(job("/a b", "/x").refusal().is_none());
    }
}
