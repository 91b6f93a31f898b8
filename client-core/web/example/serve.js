// Serves this package at http://localhost:8080/example/ and passes /connect.json on to a server's
// HTTP address: `node example/serve.js [http://127.0.0.1:7780] [8080]`.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const [server = "http://127.0.0.1:7780", port = "8080"] = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

createServer(async (request, response) => {
  try {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/connect.json") {
      const described = await fetch(new URL(pathname, server));
      response.writeHead(described.status, { "content-type": "application/json" });
      response.end(await described.text());
      return;
    }
    // `normalize` removes what would lead out of the package.
    const path = normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    const content = await readFile(join(root, path));
    const type = types[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    response.end(content);
  } catch (error) {
    response.writeHead(error.code === "ENOENT" ? 404 : 502).end(String(error));
  }
}).listen(Number(port), "127.0.0.1", () => console.log(`http://localhost:${port}/example/`));
