import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { linkRewriter, rewriteLinks } from './links.ts';

const prefixed = (url: string) => (url.startsWith('/') ? `/proxy${url}` : url);
const rewritten = (pieces: readonly string[]) =>
  text(Readable.from(pieces.map((piece) => Buffer.from(piece))).pipe(linkRewriter(prefixed)));

const cases = [
  { html: '<a href="/x">/x</a>', becomes: '<a href="/proxy/x">/x</a>' },
  { html: "<IMG alt=x SRC='/y?a&amp;b'>", becomes: '<IMG alt=x SRC="/proxy/y?a&amp;b">' },
  { html: '<form action=/post><input src=/z/>', becomes: '<form action="/proxy/post"><input src="/proxy/z/">' },
  { html: '<a title="a > b" href="/x"/>', becomes: '<a title="a > b" href="/proxy/x"/>' },
  { html: '<a href="next">é</a>', becomes: '<a href="next">é</a>' },
  { html: '<p href="/x">1 < 2', becomes: '<p href="/x">1 < 2' },
  {
    html: '<script src="/s">"<a href=\'/x\'>"</script><a href="/x">',
    becomes: '<script src="/proxy/s">"<a href=\'/x\'>"</script><a href="/proxy/x">',
  },
  { html: '<!-- <a href="/x"> --><a href="/x">', becomes: '<!-- <a href="/x"> --><a href="/proxy/x">' },
  { html: '<a href="/unclosed', becomes: '<a href="/unclosed' },
];
for (const { html, becomes } of cases) {
  test(`${html} becomes ${becomes}`, async () => {
    assert.equal(await rewritten([html]), becomes);
  });
}

test('links are found however the page is chunked', async () => {
  const html = cases
    .slice(0, -1)
    .map((each) => each.html)
    .join('\n');
  const becomes = cases
    .slice(0, -1)
    .map((each) => each.becomes)
    .join('\n');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: html.length - 1 }), { maxLength: 12 }), async (cuts) => {
      const ends = [...cuts.sort((a, b) => a - b), html.length];
      const pieces = ends.map((end, index) => html.slice(index === 0 ? 0 : ends[index - 1], end));
      assert.equal(await rewritten(pieces.filter((piece) => piece !== '')), becomes);
    }),
    { numRuns: 200 },
  );
});

test('a compressed page stays compressed, without its Content-Length', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-length': '9', 'content-type': 'text/html' };
  const page = Readable.from([gzipSync('<a href="/x">')]);
  const { body, headers: changed } = rewriteLinks({ code: 200, reason: '', headers, body: page }, prefixed);
  assert.equal(gunzipSync(await buffer(body)).toString(), '<a href="/proxy/x">');
  assert.deepEqual(changed, { 'content-encoding': 'gzip', 'content-type': 'text/html' });
});

test('a page with only tag starts is processed in linear time', async () => {
  const html = '<a'.repeat(1_000_000);
  const startMs = performance.now();
  assert.equal((await rewritten([html.slice(0, 70_000), html.slice(70_000)])).length, html.length);
  assert.ok(performance.now() - startMs < 1000);
});
