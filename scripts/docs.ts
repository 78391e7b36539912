// Builds the documentation site into .cache/docs.
//   npm run docs                     builds it
//   npm run docs -- --serve [PORT]   builds it and serves it on localhost
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSite } from './docs/site.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.cache', 'docs');
const started = performance.now();
const count = buildSite(root, folder);
console.log(`${count} pages in ${Math.round(performance.now() - started)} ms: ${join(folder, 'index.html')}`);

const [option, port = '8000'] = process.argv.slice(2);
if (option === '--serve') {
  const types: { readonly [extension: string]: string } = {
    '.html': 'text/html; charset=utf-8',
    '.css': 'text/css',
    '.js': 'text/javascript',
    '.svg': 'image/svg+xml',
  };
  createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // A URL has no dot segments left: the path stays below the folder.
    const file = join(folder, decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    try {
      if (!file.startsWith(folder)) throw new Error('outside of the site');
      const body = readFileSync(file);
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end('not found');
    }
  }).listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
}
