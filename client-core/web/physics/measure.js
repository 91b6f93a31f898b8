// Plays `cubes` in a headless Chromium and with the console in the same room at the same time, and
// prints the figures of both. It needs a server, Chromium and chromedriver, and a built package:
//
//   node client-core/web/physics/measure.js --http http://127.0.0.1:7780 --server 127.0.0.1:7777 \
//     --console target/release/console --seconds 60 --impair delay=50ms,jitter=20ms,loss=5
//
// Both players hold and release keys by a script of the same kind: push, gather, repel, jump, rest.
import { spawn } from "node:child_process";
import { readFile, writeFile, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const option = (value) => ({ type: "string", default: value });
const { values: options } = parseArgs({
  options: {
    http: option("http://127.0.0.1:7780"),
    server: option("127.0.0.1:7777"),
    console: option("target/release/console"),
    seconds: option("60"),
    impair: option(""),
    render: option("100ms"),
    cubes: option("100"),
    port: option("8080"),
    module: option(""),
    interpolated: { type: "boolean", default: false },
  },
});

const root = fileURLToPath(new URL("..", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const simulated = !options.interpolated;
const settle = 3_000;

/** The parts of an impairment as the console understands it, as numbers. */
function impairment(text) {
  const part = (name) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(text)?.[1] ?? 0);
  return { delay_ms: part("delay"), jitter_ms: part("jitter"), loss: part("loss") };
}

/** Keys and how long they are held, from a seed. */
function script(seed) {
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const ways = ["left", "right", "up", "down"];
  const keys = [];
  for (let left = Number(options.seconds) * 1_000; left > 0; ) {
    const way = ways[random(4)];
    const gather = [way, "attract"];
    const held = [[way], gather, gather, ["repel"], [way, "jump"], []][random(6)];
    const ms = 300 + random(1_500);
    keys.push([held, Math.min(ms, left)]);
    left -= ms;
  }
  return keys;
}

const plan = {
  ...impairment(options.impair),
  room: `measured-${process.pid}`,
  render: options.render,
  simulated,
  physics: simulated ? { cubes: options.module || true } : {},
  parameters: { cubes: options.cubes, sync: simulated ? "simulated" : "interpolated" },
  settle_ms: settle,
  keys: script(1),
};

const pages = createServer(async (request, response) => {
  try {
    const { pathname } = new URL(request.url, "http://localhost");
    const json = { "content-type": "application/json" };
    if (pathname === "/plan.json") return response.writeHead(200, json).end(JSON.stringify(plan));
    if (pathname === "/connect.json") {
      const described = await fetch(new URL(pathname, options.http));
      return response.writeHead(200, json).end(await described.text());
    }
    const content = await readFile(join(root, normalize(pathname)));
    response.writeHead(200, { "content-type": types[extname(pathname)] ?? "text/plain" });
    response.end(content);
  } catch (error) {
    response.writeHead(404).end(String(error));
  }
});
await new Promise((done) => pages.listen(Number(options.port), "127.0.0.1", done));

const driverPort = Number(options.port) + 1;
const driver = spawn("chromedriver", [`--port=${driverPort}`], { stdio: "ignore" });
const scratch = await mkdtemp(join(tmpdir(), "ambit-measure-"));
let session;

async function webdriver(method, path, body) {
  const url = `http://127.0.0.1:${driverPort}${path}`;
  const answer = await fetch(url, { method, body: body && JSON.stringify(body) });
  const { value } = await answer.json();
  if (value?.error) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

async function titleOf(matches, seconds) {
  for (let i = 0; i < seconds * 5; i += 1) {
    const title = await webdriver("GET", `/session/${session}/title`);
    if (matches(title)) return title;
    if (title.startsWith("{")) throw new Error(title);
    await sleep(200);
  }
  throw new Error("the page took too long");
}

/** The last answer of the console to `stats`. */
async function playNatively(room) {
  const lines = [`join ${room}`, "wait-for started 10s", `wait ${settle}ms`];
  for (const [keys, ms] of script(2)) {
    lines.push(`keys ${keys.join(",") || "none"}`, `wait ${ms}ms`);
  }
  lines.push("stats", "quit");
  const file = join(scratch, "script");
  await writeFile(file, `${lines.join("\n")}\n`);
  const flags = ["--server", options.server, "--name", "native", "--script", file];
  flags.push("--render", options.render);
  if (simulated) flags.push("--predict");
  if (options.impair) flags.push("--impair", options.impair);
  const env = { ...process.env, AMBIT_KNOWN_HOSTS: join(scratch, "known_hosts") };
  const player = spawn(options.console, flags, { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  player.stdout.on("data", (bytes) => (output += bytes));
  await new Promise((done) => player.on("close", done));
  const answers = output.split("\n").filter((line) => line.includes('"ev":"stats"'));
  const { rtt_ms, simulation, shown_behind_ms } = JSON.parse(answers.at(-1) ?? "{}");
  return { rtt_ms, shown_behind_ms, simulation };
}

try {
  for (let tries = 0; ; tries += 1) {
    try {
      await webdriver("GET", "/status");
      break;
    } catch (error) {
      if (tries === 50) throw error;
      await sleep(100);
    }
  }
  const profile = `--user-data-dir=${join(scratch, "profile")}`;
  const args = ["--headless=new", "--no-sandbox", "--disable-gpu", profile];
  const capabilities = { alwaysMatch: { "goog:chromeOptions": { args } } };
  session = (await webdriver("POST", "/session", { capabilities })).sessionId;
  const url = `http://localhost:${options.port}/physics/measure.html`;
  await webdriver("POST", `/session/${session}/url`, { url });
  const room = (await titleOf((title) => title.startsWith("room "), 30)).slice(5);
  const native = playNatively(room);
  const figures = await titleOf((title) => title.startsWith("{"), Number(options.seconds) + 30);
  console.log(JSON.stringify({ browser: JSON.parse(figures), native: await native }, null, 2));
} finally {
  if (session) await webdriver("DELETE", `/session/${session}`).catch(() => {});
  driver.kill();
  pages.close();
  await rm(scratch, { recursive: true, force: true });
}
