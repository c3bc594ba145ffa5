#!/usr/bin/env python3
"""Compares what cc-etl asks for each Claude model with LiteLLM's price file: tests/litellm_prices.py [CC_ETL]

The file comes from a pinned release of the PyPI package `litellm`, which is downloaded into target/litellm. A home is made
with one response for each model, band of prompt length and way of asking (batch, fast, US), and imported; the view
response_costs then gives the rate of each kind of token. Every rate that differs from LiteLLM's must be explained by a line
of tests/litellm_differences.tsv, and every line there must explain one. Exits with 1 otherwise.
"""

import fnmatch
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = "1.109.1"
DAY = "2026-11-18"  # after the last change of a price in that release
FOLDER = ROOT / "target/litellm"
FILE = "litellm/model_prices_and_context_window_backup.json"

# LiteLLM's key, and the columns of response_costs: what the tokens cost, and how many there are.
RATES = {
    "input": ("input_cost_per_token", "input_cost_usd", "input_tokens"),
    "output": ("output_cost_per_token", "output_cost_usd", "output_tokens"),
    "write_5m": ("cache_creation_input_token_cost", "cache_write_5m_cost_usd", "cache_write_5m_tokens"),
    "write_1h": ("cache_creation_input_token_cost_above_1hr", "cache_write_1h_cost_usd", "cache_write_1h_tokens"),
    "read": ("cache_read_input_token_cost", "cache_read_cost_usd", "cache_read_tokens"),
}

# Who sells Claude models under Anthropic's names. Others set their prices themselves, and Claude Code writes other names there.
PROVIDERS = ["anthropic", "bedrock", "bedrock_converse", "bedrock_mantle", "vertex_ai-anthropic_models", "azure_ai"]

# Prompt lengths that Anthropic has ever had a higher price for. Of each kind of input there is as much, below and above.
BANDS = {"": 20_000, "above_100k": 40_000, "above_200k": 100_000}


def price_file():
    wheels = list(FOLDER.glob(f"litellm-{RELEASE}-*.whl"))
    if not wheels:
        package = f"litellm=={RELEASE}"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--only-binary", ":all:", "--dest", FOLDER, package],
            check=True,
        )
        wheels = list(FOLDER.glob(f"litellm-{RELEASE}-*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        return json.loads(wheel.read(FILE))


def entries():
    """The Claude models of the file that have a price per token."""
    for name, entry in price_file().items():
        if "claude" in name.lower() and entry.get("litellm_provider") in PROVIDERS and "input_cost_per_token" in entry:
            yield name, entry


def ways(entry):
    """How the model can be asked: the name, what the line says, and how the rates change."""
    yield "standard", {}, 1
    for way, said in (("fast", {"speed": "fast"}), ("us", {"inference_geo": "us"})):
        multiplier = entry.get("provider_specific_entry", {}).get(way)
        if multiplier is not None:
            yield way, said, multiplier
    if "input_cost_per_token_batches" in entry:
        yield "batch", {"service_tier": "batch"}, None


def theirs(entry, rate, band, way, multiplier):
    """LiteLLM's rate in USD per million tokens, or None if the file has none."""
    key = RATES[rate][0]
    thresholds = [match.group(1) for match in (re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key) for key in entry) if match]
    if way == "batch":
        keys = [f"{key}_above_{band.removeprefix('above_')}_tokens_batches"] if band else []
        keys.append(f"{key}_batches")
        # Of a band without prices for batches the file says nothing.
        if band and any(int(threshold) <= int(band[6:-1]) for threshold in thresholds) and keys[0] not in entry:
            return None
    else:
        reached = [int(threshold) for threshold in thresholds if band and int(threshold) <= int(band[6:-1])]
        keys = [f"{key}_above_{max(reached)}k_tokens" if reached else key]
    value = next((entry[key] for key in keys if key in entry), None)
    return None if value is None else value * 1e6 * (multiplier or 1)


def import_responses(cc_etl, folder):
    """Imports a response of each model, band and way, and returns the rows of response_costs by these."""
    home = folder / "home/projects/-w"
    home.mkdir(parents=True)
    names = {}
    with open(home / "00000000-0000-4000-8000-000000000001.jsonl", "w", encoding="utf-8") as file:
        for name, entry in entries():
            for band, tokens in BANDS.items():
                for way, said, multiplier in ways(entry):
                    number = f"{len(names):06}"
                    names[f"msg_{number}"] = (name, entry, band, way, multiplier)
                    usage = {
                        "input_tokens": tokens, "output_tokens": 10_000, "cache_read_input_tokens": tokens,
                        "cache_creation": {"ephemeral_5m_input_tokens": tokens // 2, "ephemeral_1h_input_tokens": tokens // 2},
                        **said,
                    }
                    line = {
                        "parentUuid": None, "uuid": f"u{number}", "type": "assistant", "timestamp": f"{DAY}T10:00:00.000Z",
                        "sessionId": "00000000-0000-4000-8000-000000000001", "version": "2.1.300",
                        "message": {"id": f"msg_{number}", "model": name, "role": "assistant", "stop_reason": "end_turn", "content": [], "usage": usage},
                    }
                    file.write(json.dumps(line) + "\n")
    database = folder / "prices.db"
    subprocess.run([cc_etl, "sync", "--quiet", "--source", folder / "home", "--db", database], check=True)
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    for row in connection.execute("select * from response_costs"):
        yield names[row["api_message_id"]], row


def differences(cc_etl, folder):
    compared = 0
    for (name, entry, band, way, multiplier), row in import_responses(cc_etl, folder):
        for rate, (_, cost, tokens) in RATES.items():
            expected = theirs(entry, rate, band, way, multiplier)
            if expected is None:
                continue
            compared += 1
            ours = None if row[cost] is None else row[cost] / row[tokens] * 1e6
            if ours is None or abs(ours - expected) > 1e-5 * expected:
                yield name, " ".join(filter(None, [way, band, rate])), ours, expected
    print(f"{compared} rates of {sum(1 for _ in entries())} models compared")


def main():
    cc_etl = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target/release/cc-etl"
    explained = {}
    for line in (ROOT / "tests/litellm_differences.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            models, rates, reason = line.split("\t")
            explained[(models, rates)] = reason
    used, unexplained, found = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, rate, ours, expected in differences(cc_etl, pathlib.Path(folder)):
            found += 1
            matches = [key for key in explained if fnmatch.fnmatchcase(name, key[0]) and fnmatch.fnmatchcase(rate, key[1])]
            used.update(matches)
            if not matches:
                unexplained += 1
                ours = "no price" if ours is None else f"{ours:.6g}"
                print(f"{name}\t{rate}\tours {ours}\tLiteLLM {expected:.6g}")
    for key in explained.keys() - used:
        print(f"explains nothing: {key[0]}\t{key[1]}")
    print(f"{found} differences, {unexplained} unexplained")
    sys.exit(1 if unexplained or explained.keys() - used else 0)


main()
