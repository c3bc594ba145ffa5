//! The profile `redacted`: planted secrets are masked, and ordinary lines stay as they are.

mod sandbox;

use cc_etl::export::secrets::{Counts, rules};
use sandbox::{Sandbox, corpus, query, records};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Pseudo-random numbers (splitmix64): the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }

    /// Characters of an alphabet.
    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }

    fn alphanumeric(&mut self, length: usize) -> String {
        self.text(ALPHANUMERIC, length)
    }

    fn hex(&mut self, length: usize) -> String {
        self.text("0123456789abcdef", length)
    }
}

const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A kind of secret, the secret itself, and a text that holds it.
type Planted = (&'static str, String, String);

/// Forty secrets of twenty kinds, in the contexts in which transcripts have them.
fn planted(random: &mut Random) -> Vec<Planted> {
    let mut planted = Vec::new();
    let mut plant = |kind, secret: String, before: &str, after: &str| {
        let text = format!("{before}{secret}{after}");
        planted.push((kind, secret, text));
    };
    let key = format!(
        "sk-ant-{}{}AA",
        "api03-",
        random.text(&format!("{ALPHANUMERIC}_-"), 93)
    );
    plant("anthropic", key, "Use ", " for the tests.");
    let key = format!("sk-ant-{}{}", "oat01-", random.alphanumeric(80));
    plant("anthropic", key, "export CLAUDE_CODE_OAUTH_TOKEN='", "'\n");
    let key = format!("sk-proj-{}", random.text(&format!("{ALPHANUMERIC}_-"), 120));
    plant("openai", key, "client = OpenAI(api_key=\"", "\")");
    let key = format!("sk-{}", random.alphanumeric(48));
    plant("openai", key, "OPENAI_API_KEY=", "\n");
    let key = format!(
        "AKIA{}",
        random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
    );
    plant("aws", key, "aws_access_key_id = ", "\nregion = eu-west-1");
    let key = random.text(&format!("{ALPHANUMERIC}/+"), 40);
    plant("aws", key, "aws_secret_access_key = ", "\n");
    let token = format!("ghp_{}", random.alphanumeric(36));
    plant(
        "github",
        token,
        "git clone https://x-access-token:",
        "@github.com/tea/shop.git",
    );
    let token = format!(
        "github_pat_{}_{}",
        random.alphanumeric(22),
        random.alphanumeric(59)
    );
    plant("github", token, "gh auth login --with-token <<< ", "");
    let token = format!("glpat-{}", random.text(&format!("{ALPHANUMERIC}_-"), 20));
    plant("gitlab", token, "PRIVATE-TOKEN: ", "\"");
    let token = format!("glrt-{}", random.text(&format!("{ALPHANUMERIC}_-"), 20));
    plant(
        "gitlab",
        token,
        "gitlab-runner register --token ",
        " --url https://gitlab.com",
    );
    let token = format!(
        "xoxb-{}-{}-{}",
        random.text("0123456789", 12),
        random.text("0123456789", 13),
        random.alphanumeric(24)
    );
    plant("slack", token, "slack_token: ", "\n");
    let path = format!(
        "T{}/B{}/{}",
        random.text("ABCDEFGH0123456789", 10),
        random.text("ABCDEFGH0123456789", 10),
        random.alphanumeric(24)
    );
    plant(
        "slack",
        path,
        "curl -d @- https://hooks.slack.com/services/",
        " < message.json",
    );
    let key = format!("AIza{}", random.text(&format!("{ALPHANUMERIC}_-"), 35));
    plant(
        "google",
        key,
        "https://maps.googleapis.com/maps/api/js?key=",
        "&callback=init",
    );
    let secret = format!("GOCSPX-{}", random.text(&format!("{ALPHANUMERIC}_-"), 28));
    plant("google", secret, "{\"client_secret\":\"", "\"}");
    let key = format!("sk_{}_{}", "live", random.alphanumeric(24));
    plant("stripe", key, "stripe.api_key = '", "'");
    let secret = format!("whsec_{}", random.alphanumeric(32));
    plant("stripe", secret, "STRIPE_WEBHOOK_SECRET=", "\n");
    let token = format!("npm_{}", random.alphanumeric(36));
    plant("npm", token, "//registry.npmjs.org/:_authToken=", "\n");
    let token = format!("npm_{}", random.alphanumeric(36));
    plant("npm", token, "NPM_TOKEN=", " npm publish");
    let token = format!(
        "pypi-AgEIcHlwaS5vcmc{}",
        random.text(&format!("{ALPHANUMERIC}_-"), 150)
    );
    plant("pypi", token, "twine upload -u __token__ -p ", " dist/*");
    let token = format!("pypi-AgENdGVzdC5weXBpLm9yZw{}", random.alphanumeric(150));
    plant("pypi", token, "  password = ", "\n");
    let key = format!(
        "SG.{}.{}",
        random.text(&format!("{ALPHANUMERIC}_-"), 22),
        random.text(&format!("{ALPHANUMERIC}_-"), 43)
    );
    plant(
        "sendgrid",
        key,
        "const sg = require('@sendgrid/mail'); sg.setApiKey('",
        "');",
    );
    let key = format!("SK{}", random.hex(32));
    plant("twilio", key, "twilio = Client('", "', secret)");
    let token = random.hex(32);
    plant("twilio", token, "TWILIO_AUTH_TOKEN=", "\n");
    let token = format!(
        "hf_{}",
        random.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 34)
    );
    plant("huggingface", token, "huggingface-cli login --token ", "");
    let part = |random: &mut Random, length| random.text(&format!("{ALPHANUMERIC}_-"), length);
    let token = format!(
        "eyJ{}.eyJ{}.{}",
        part(random, 33),
        part(random, 80),
        part(random, 43)
    );
    plant("jwt", token, "The session is ", ".");
    let token = format!(
        "eyJ{}.{}.{}",
        part(random, 17),
        part(random, 60),
        part(random, 43)
    );
    plant("jwt", token, "{\"token\": \"", "\"}");
    let key = format!("{}==", random.text(&format!("{ALPHANUMERIC}/+"), 86));
    plant(
        "azure",
        key,
        "DefaultEndpointsProtocol=https;AccountName=tea;AccountKey=",
        ";EndpointSuffix=core.windows.net",
    );
    let secret = format!(
        "{}8Q~{}",
        random.alphanumeric(3),
        random.text(&format!("{ALPHANUMERIC}_.~-"), 34)
    );
    plant(
        "azure",
        secret,
        "az login --service-principal -u app -p ",
        " --tenant tea",
    );
    plant(
        "url",
        "S3cr3tPass".into(),
        "DATABASE_URL=postgres://app:",
        "@db.internal:5432/tea",
    );
    plant(
        "url",
        "kettle-on-42!".into(),
        "curl https://deploy:",
        "@git.example.com/hook",
    );
    let body: String = (0..24)
        .map(|_| random.text(&format!("{ALPHANUMERIC}/+"), 64) + "\n")
        .collect();
    let whole = format!("MIIEowIBAAKCAQEA{body}");
    plant(
        "pem",
        whole,
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----END RSA PRIVATE KEY-----\nDone.",
    );
    let body = random.text(&format!("{ALPHANUMERIC}/+"), 64);
    plant(
        "pem",
        body,
        "cat id_ed25519 | head -2\n-----BEGIN OPENSSH PRIVATE KEY-----\n",
        "",
    );
    let token = random.text(&format!("{ALPHANUMERIC}._-"), 40);
    plant(
        "authorization",
        token,
        "curl -H 'Authorization: Bearer ",
        "' https://api.example.com/teas",
    );
    plant(
        "authorization",
        "YWxhZGRpbjpvcGVuc2VzYW1l".into(),
        "> Authorization: Basic ",
        "\n> Accept: */*",
    );
    plant("assignment", "hunter2".into(), "password = '", "'");
    let key = random.alphanumeric(32);
    plant("assignment", key, "  api_key: \"", "\"  # of the kettle");
    plant(
        "assignment",
        "c0rrect-h0rse".into(),
        "{\"user\":\"app\",\"password\":\"",
        "\",\"port\":5432}",
    );
    let token = random.hex(40);
    plant(
        "assignment",
        token,
        "{\"headers\":{\"X-Api-Key\":\"",
        "\"}}",
    );
    plant(
        "environment",
        "Darjeeling#1998".into(),
        "docker run -e POSTGRES_PASSWORD=",
        " -d postgres",
    );
    let secret = random.text(&format!("{ALPHANUMERIC}+/"), 44);
    plant("environment", secret, "SESSION_SECRET=\"", "\"\nPORT=3000");
    planted
}

/// Once as the person typed it, once as the command that Claude ran, and once as what a tool printed.
#[test]
fn forty_planted_secrets_of_twenty_kinds_are_masked() {
    let planted = planted(&mut Random(21));
    let kinds: BTreeSet<&str> = planted.iter().map(|(kind, _, _)| *kind).collect();
    assert_eq!((planted.len(), kinds.len()), (40, 20));
    let sandbox = Sandbox::new();
    let session = "5e550021-0000-4000-8000-000000000021";
    let mut lines = String::new();
    for (number, (_, _, text)) in planted.iter().enumerate() {
        let uuid = |part: usize| format!("{part:08}-0000-4000-8000-{number:012}");
        let given = json!({ "sessionId": session, "cwd": "/home/teapot/shop" });
        let id = format!("toolu_{number:04}");
        let call =
            json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": text } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
        let mut called = given.clone();
        called["message"] =
            json!({ "role": "assistant", "model": "claude-opus-5", "content": call });
        called["type"] = json!("assistant");
        let mut answered = given.clone();
        answered["message"] = json!({ "role": "user", "content": result });
        for record in [
            records::user(&uuid(1), text, given),
            records::user(&uuid(2), "", called),
            records::user(&uuid(3), "", answered),
        ] {
            lines += &format!("{record}\n");
        }
    }
    sandbox.write(&records::file(session), lines);
    sandbox.sync();
    let connection = sandbox.connection();
    let texts = query(&connection, "select text from _message_texts");
    let results = query(&connection, "select content from tool_results");
    let commands = query(&connection, "select command from tool_uses");
    for (kind, secret, _) in &planted {
        for stored in [&texts, &results, &commands] {
            assert!(
                stored.iter().any(|text| text.contains(secret)),
                "{kind}: {secret}"
            );
        }
    }
    let output = sandbox.run(&["export", "--format", "postgres", "--profile", "redacted"]);
    let script = sandbox::text(&output.stdout);
    let missed: Vec<&Planted> = planted
        .iter()
        .filter(|(_, secret, _)| script.contains(secret.trim_end()))
        .collect();
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
    let first_line = |secret: &str| secret.lines().next().unwrap_or_default().to_string();
    assert!(
        !planted
            .iter()
            .any(|(_, secret, _)| script.contains(&first_line(secret)))
    );
    // What is around them is still there, and what was masked is counted.
    for kept in [
        "Use [REDACTED:anthropic-key] for the tests.",
        "@db.internal:5432/tea",
        "Accept: */*",
        "Done.",
    ] {
        assert!(script.contains(kept), "{kept}");
    }
    assert!(!script.contains("teapot") && script.contains("~/shop"));
    let report = sandbox::text(&output.stderr);
    assert!(
        report.contains(" anthropic-key") && report.contains(" home-directory"),
        "{report}"
    );
    let masked = script.split("'redacted', null, true, '").nth(1).unwrap();
    let masked: BTreeMap<String, u64> =
        serde_json::from_str(masked.split('\'').next().unwrap()).unwrap();
    assert!(
        masked["anthropic-key"] >= 6 && masked["home-directory"] >= 1,
        "{masked:?}"
    );
    // Input stays JSON.
    let out = sandbox.path("out");
    sandbox.ok(&[
        "export",
        "--format",
        "parquet",
        "--profile",
        "redacted",
        "--out",
        out.to_str().unwrap(),
    ]);
    let manifest = fs::read_dir(out.join("v1"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let manifest = manifest.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    let manifest = fs::read_to_string(manifest.last().unwrap()).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["masked"], json!(masked));
}

#[test]
fn masked_json_is_still_json() {
    for (_, secret, text) in planted(&mut Random(22)) {
        let nested = json!({ "command": text, "inner": json!({ "command": text }).to_string() });
        let masked = rules()
            .mask(&nested.to_string(), &mut Counts::new())
            .into_owned();
        assert!(!masked.contains(&secret), "{masked}");
        let read: serde_json::Value = serde_json::from_str(&masked).expect(&masked);
        let inner: &str = read["inner"].as_str().unwrap();
        serde_json::from_str::<serde_json::Value>(inner).expect(inner);
    }
}

#[test]
fn ordinary_lines_stay_as_they_are() {
    const LINES: usize = 5000;
    let mut random = Random(5);
    let mut touched = Vec::new();
    for _ in 0..LINES {
        let line = ordinary(&mut random);
        let masked = rules().mask(&line, &mut Counts::new());
        if masked != line {
            touched.push(masked.into_owned());
        }
    }
    println!("{} of {LINES} ordinary lines touched", touched.len());
    assert!(
        touched.len() * 100 <= LINES,
        "{} touched: {touched:#?}",
        touched.len()
    );
}

/// A line of code, prose or output, with what looks like a secret and is none.
fn ordinary(random: &mut Random) -> String {
    let noun = random.of(&[
        "kettle", "order", "session", "invoice", "parser", "token", "password", "secret",
        "request", "api_key",
    ]);
    let verb = random.of(&[
        "load", "parse", "validate", "refresh", "rotate", "hash", "store", "print",
    ]);
    let number = random.below(100_000);
    let kind = random.of(&[
        "String",
        "str",
        "u64",
        "bool",
        "Option<String>",
        "number",
        "&'a str",
    ]);
    let hash = random.hex(40);
    match random.below(40) {
        0 => format!("pub fn {verb}_{noun}(&self, {noun}: {kind}) -> Result<{kind}> {{"),
        1 => format!("    let {noun} = self.{verb}_{noun}({number})?;"),
        2 => format!("        self.{noun} = {noun};"),
        3 => format!("def {verb}_{noun}({noun}: str, limit: int = {number}) -> None:"),
        4 => format!("    {noun}: {kind},"),
        5 => format!("  const {{ {noun}, setNext }} = use{noun}({number});"),
        6 => format!("import {{ {verb} }} from './{noun}/{verb}';"),
        7 => format!(
            "select {noun}_id, count(*) from {noun}s where {noun}_id > {number} group by 1;"
        ),
        8 => format!("The {noun} is missing, so we {verb} it again after {number} ms."),
        9 => format!(
            "I'll {verb} the {noun} first, then run the tests to see whether the {noun} is right."
        ),
        10 => format!("commit {hash}"),
        11 => format!("test {noun}::tests::{verb}s_a_{noun} ... ok"),
        12 => format!(
            "     {number}\t    if {noun}.is_empty() {{ return Err(Error::Missing(\"{noun}\")); }}"
        ),
        13 => format!("+        {noun}: process.env.{},", noun.to_uppercase()),
        14 => format!("-    {noun} = os.environ[\"{}\"]", noun.to_uppercase()),
        15 => format!(
            "export {}=${{{}}}",
            noun.to_uppercase(),
            noun.to_uppercase()
        ),
        16 => format!("  {noun}: ${{{{ secrets.{} }}}}", noun.to_uppercase()),
        17 => format!("https://example.com:8080/{noun}/{number}?page=2&sort={verb}"),
        18 => format!("git@github.com:tea/{noun}.git"),
        19 => format!(
            "{noun} = \"{}-{}-4000-8000-{}\"",
            random.hex(8),
            random.hex(4),
            random.hex(12)
        )
        .replace("token", "id")
        .replace("secret", "id")
        .replace("password", "id")
        .replace("api_key", "id"),
        20 => format!("index {}..{} 100644", &hash[..7], &hash[8..15]),
        21 => format!("  \"integrity\": \"sha512-{}==\",", random.alphanumeric(86)),
        22 => format!(
            "{{\"input_tokens\":{number},\"output_tokens\":{},\"model\":\"claude-opus-5\"}}",
            number / 7
        ),
        23 => format!("max_tokens: {number}, temperature: 0.{}", number % 10),
        24 => {
            format!("<input type=\"password\" name=\"{noun}\" autocomplete=\"current-password\" />")
        }
        25 => format!(".sk-{noun}-{verb} {{ margin: {}px; }}", number % 40),
        26 => format!("warning: unused variable: `{noun}`"),
        27 => format!(
            "   Compiling {noun} v0.{}.{} (/build/{noun})",
            number % 10,
            number % 7
        ),
        28 => format!(
            "2026-11-19T08:{:02}:{:02}.123Z INFO {verb} {noun} took {number} ms",
            number % 60,
            number % 59
        ),
        29 => format!("# {verb} the {noun}; see docs/{noun}.md#authorization"),
        30 => format!(
            "if ({noun} === null || {noun}.length < {}) return;",
            number % 50
        ),
        31 => format!(
            "The header Authorization: is required, and the bearer of the {noun} may {verb} it."
        ),
        32 => format!("    assert_eq!({noun}.{verb}(), {number});"),
        33 => format!("- [ ] {verb} {noun} (#{number})"),
        34 => format!("const {}_LENGTH: usize = {number};", noun.to_uppercase()),
        35 => format!("{noun}_type = models.CharField(max_length={number})"),
        36 => format!("type {noun}Props = {{ {noun}?: string; on{verb}: () => void }};"),
        37 => format!("throw new Error(`Cannot {verb} {noun}: ${{error.message}}`);"),
        38 => format!("{noun}s: dict[str, {noun}] = field(default_factory=dict)  # by id"),
        _ => format!(
            "data:image/png;base64,iVBORw0KGgo{}",
            random.alphanumeric(200)
        ),
    }
}

#[test]
fn masking_takes_time_linear_in_the_length_of_a_text() {
    let near_misses = [
        "-----BEGIN RSA PRIVATE KEY----- ",
        "eyJaaaaaaaaaaaa.",
        "password = \"",
        "postgres://app:",
        "authorization: bearer ",
        "curl -u ",
        "api_key=a",
        "sk-",
        "/home/",
    ];
    for text in near_misses {
        let time = |length: usize| {
            let text = text.repeat(length / text.len());
            let begun = std::time::Instant::now();
            let masked = rules().mask(&text, &mut Counts::new());
            assert!(masked.len() <= 12 * text.len());
            begun.elapsed().as_secs_f64()
        };
        // Other programs run too: the best of three.
        let best = |length| (0..3).map(|_| time(length)).fold(f64::MAX, f64::min);
        let (short, long) = (best(100_000), best(1_600_000));
        // Quadratic time would be 256 times as long.
        assert!(long < 64.0 * short.max(0.01), "{text}: {short} s, {long} s");
    }
}

/// By hand: `CC_ETL_CORPUS=... cargo test --release --test redaction -- --nocapture corpus` prints what is touched there.
#[test]
fn few_lines_of_the_corpus_are_touched() {
    for home in corpus() {
        let sandbox = Sandbox::new();
        sandbox.ok(&[
            "sync",
            "--source",
            home.to_str().unwrap(),
            "--machine",
            "laptop",
        ]);
        let connection = sandbox.connection();
        let texts = "select text from _message_texts union all select content from tool_results union all select input_json from tool_uses";
        let (mut line_count, mut touched_count) = (0, 0);
        let mut counts = Counts::new();
        let mut shown = BTreeMap::new();
        for text in query(&connection, texts) {
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                line_count += 1;
                let mut of_line = Counts::new();
                let masked = rules().mask(line, &mut of_line);
                if masked == line {
                    continue;
                }
                touched_count += 1;
                for (rule, count) in of_line {
                    *counts.entry(rule).or_default() += count;
                    let start = masked.find("[REDACTED").unwrap_or(0).saturating_sub(60);
                    let around: String = masked.chars().skip(start).take(120).collect();
                    shown.entry(rule).or_insert_with(Vec::new).push(around);
                }
            }
        }
        println!(
            "{}: {touched_count} of {line_count} lines, {counts:?}",
            name(&home)
        );
        if std::env::var_os("CC_ETL_SHOW").is_some() {
            println!("{shown:#?}");
        }
        assert!(touched_count * 100 <= line_count, "{}", name(&home));
    }
}

fn name(home: &Path) -> String {
    home.file_name().unwrap().to_string_lossy().into_owned()
}
