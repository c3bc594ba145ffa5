#!/usr/bin/env node
// Lets the official npm clients of the Model Context Protocol talk to `cc-etl mcp`, in both eras of the protocol.
//
//     tests/mcp_client.mjs PACKAGES PROGRAM [DATABASE]
//
// PACKAGES is a folder whose node_modules has the clients. Without a database, the demo is used; with one, no call may take more than
// a second. tests/mcp_client.py is the same for the Python client, and tests more.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const [packages, program, given] = process.argv.slice(2).map((argument) => argument && resolve(argument))
const require = createRequire(join(packages, 'package.json'))
const older = { ...require('@modelcontextprotocol/sdk/client/index.js'), ...require('@modelcontextprotocol/sdk/client/stdio.js') }
const newer = { ...require('@modelcontextprotocol/client'), ...require('@modelcontextprotocol/client/stdio') }

// The older client knows the handshake only.
const clients = {
  'sdk': () => [older, {}],
  'client, with a handshake': () => [newer, { versionNegotiation: { mode: 'legacy' } }],
  'client, as the server offers': () => [newer, { versionNegotiation: { mode: 'auto' } }],
  'client, without a handshake': () => [newer, { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
}

async function connect(name, database) {
  const [{ Client, StdioClientTransport }, options] = clients[name]()
  const client = new Client({ name: 'test', version: '1' }, options)
  const transport = new StdioClientTransport({ command: program, args: ['mcp', '--db', database] })
  await client.connect(transport)
  return [client, transport]
}

const bad = []
let slowest = [0, '']

async function talk(name, database) {
  const [client] = await connect(name, database)
  const expect = (holds, what) => holds || bad.push(`${name}: ${what}`)
  const call = async (tool, parameters, isError = false) => {
    const begun = performance.now()
    const result = await client.callTool({ name: tool, arguments: parameters })
    const took = performance.now() - begun
    if (took > slowest[0]) slowest = [took, tool]
    const text = result.content[0].text
    expect(Boolean(result.isError) === isError, `${tool} ${JSON.stringify(parameters)}: ${text.slice(0, 200)}`)
    if (given) expect(took < 1000, `${tool} took ${Math.round(took)} ms`)
    return text
  }
  const tools = (await client.listTools()).tools.map((tool) => tool.name).sort()
  expect(tools.join() === 'ask,query,questions,schema,search,show', `the tools are ${tools}`)
  expect((await call('questions', {})).includes('daily:'), 'no question daily')
  const longest = 'select session_id, title from sessions where not is_empty order by julianday(ended_at) - julianday(started_at) desc limit 1'
  const { session_id, title } = JSON.parse(await call('query', { sql: longest }))
  expect((await call('search', { words: title.split(' ')[0] })).includes('session_id'), 'nothing was found')
  expect((await call('show', { session: session_id, tools: true })).startsWith('# '), 'no page')
  expect((await call('ask', { question: 'daily', limit: 3 })).includes('cost_usd'), 'no costs')
  expect((await call('schema', { name: 'session_costs' })).includes('cost_usd'), 'no columns')
  expect((await call('query', { sql: 'select count(*) as total from messages' })).includes('total'), 'no rows')
  await call('ask', { question: 'no_such' }, true)
  for (const sql of attempts(database)) await call('query', { sql }, true)
  await client.close()
}

function attempts(database) {
  const list = readFileSync(new URL('escape_attempts.txt', import.meta.url), 'utf8').trim().split('\n')
  return list.map((sql) => sql.replace('STOLEN', `${database}.stolen`))
}

// A client that asks for more than can be computed, says who serves it, and is killed.
async function hang(name, database) {
  const [client, transport] = await connect(name, database)
  const sql = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
  client.callTool({ name: 'query', arguments: { sql } }).catch(() => {})
  console.log(transport.pid)
  await sleep(60_000)
}

async function kill(name, database) {
  const script = fileURLToPath(import.meta.url)
  const child = spawn(process.execPath, [script, packages, program, database], { env: { ...process.env, HANG: name } })
  const server = await new Promise((found) => child.stdout.once('data', (text) => found(Number(text))))
  await sleep(200)
  child.kill('SIGKILL')
  for (let tries = 0; tries < 50; tries++) {
    if (!isAlive(server)) return
    await sleep(100)
  }
  bad.push(`${name}: its server ${server} goes on after the client was killed`)
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

if (process.env.HANG) {
  await hang(process.env.HANG, given)
} else {
  const folder = mkdtempSync(join(tmpdir(), 'cc-etl-mcp-'))
  const database = given ?? join(folder, 'demo.db')
  if (given === undefined) spawnSync(program, ['sync', '--demo', '--quiet', '--db', database], { stdio: 'inherit' })
  for (const name of Object.keys(clients)) {
    await talk(name, database)
    await kill(name, database)
  }
  rmSync(folder, { recursive: true })
  const [took, tool] = slowest
  console.log(bad.join('\n') || `ok: both npm clients call every tool in both eras; the slowest call, of ${tool}, took ${Math.round(took)} ms`)
  process.exit(bad.length > 0 ? 1 : 0)
}
