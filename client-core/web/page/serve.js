// Serves dist/ as a server does, with its content security policy, and passes /connect.json and
// /results.json on to a server's HTTP address: `node serve.js [http://127.0.0.1:7780] [8080]`. For
// trying the page.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const [server = "http://127.0.0.1:7780", port = "8080"] = process.argv.slice(2);
const root = fileURLToPath(new URL("dist", import.meta.url));
const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
  "connect-src 'self' https:; img-src 'self' data:; frame-ancestors 'none'; " +
  "base-uri 'none'; form-action 'none'";

createServer(async (request, response) => {
  try {
    const { pathname, search } = new URL(request.url, "http://localhost");
    if (pathname === "/connect.json" || pathname === "/results.json") {
      const answer = await fetch(new URL(pathname + search, server));
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(await answer.text());
      return;
    }
    // `normalize` removes what would lead out of the folder.
    const path = normalize(pathname === "/" ? "/index.html" : pathname);
    const content = await readFile(join(root, path));
    const type = types[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-security-policy": policy });
    response.end(content);
  } catch (error) {
    response.writeHead(error.code === "ENOENT" ? 404 : 502).end(String(error));
  }
}).listen(Number(port), "127.0.0.1", () => console.log(`http://localhost:${port}/`));
