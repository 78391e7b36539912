import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, createDeflate, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { createHeaderDecoder, createHeaderEncoder, type SpdyHeaders, spdyDictionary } from './spdy-headers.ts';

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}

test('the dictionary has the SPDY/3 checksum', () => {
  assert.equal(spdyDictionary.length, 1423);
  assert.equal(adler32(spdyDictionary), 0xe3c6a7c2);
});

test('headers are decoded as they were encoded, block after block', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const value = fc.stringMatching(/^[ -~]{0,40}$/);
  const headers = fc.dictionary(name, fc.oneof(value, fc.array(value, { minLength: 2, maxLength: 3 })), { maxKeys: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(headers, { maxLength: 5 }), async (blocks) => {
      const encode = createHeaderEncoder();
      const decoder = createHeaderDecoder();
      for (const block of blocks) assert.deepEqual({ ...(await decoder.decode(encode(block))) }, { ...block });
      decoder.close();
    }),
    { numRuns: 50 },
  );
});

test('blocks that a peer compressed with the dictionary are decoded in sequence', async () => {
  const deflate = createDeflate({ dictionary: spdyDictionary });
  const decoder = createHeaderDecoder();
  for (const headers of [
    { streamtype: 'error', version: 'HTTP/1.1' },
    { streamtype: 'stdin', version: 'HTTP/1.1' },
  ]) {
    const plain = plainBlock(headers);
    const compressed = await new Promise<Buffer>((resolve) => {
      const chunks: Buffer[] = [];
      deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
      deflate.write(plain);
      deflate.flush(constants.Z_SYNC_FLUSH, () => {
        deflate.removeAllListeners('data');
        resolve(Buffer.concat(chunks));
      });
    });
    assert.deepEqual({ ...(await decoder.decode(compressed)) }, headers);
  }
  decoder.close();
});

/** The block without its zlib stream. */
function plainBlock(headers: SpdyHeaders): Buffer {
  return createHeaderEncoder()(headers).subarray(7, -5);
}

const broken: { readonly [what: string]: Buffer } = {
  'is no zlib stream': Buffer.from('these are no headers'),
  'ends before it is complete': deflateSync(Buffer.of(0, 0, 0, 1, 0, 0, 0, 9, 97)),
  'claims more bytes than there are': deflateSync(Buffer.of(0, 0, 0, 1, 255, 255, 255, 255)),
  'has a name in capitals': deflateSync(Buffer.of(0, 0, 0, 1, 0, 0, 0, 1, 65, 0, 0, 0, 0)),
  'goes on after its end': deflateSync(Buffer.of(0, 0, 0, 0, 0)),
  'unfolds to more than anyone sends': deflateSync(Buffer.alloc(10_000_000)),
};
for (const [what, block] of Object.entries(broken)) {
  test(`a block is rejected that ${what}`, async () => {
    const decoder = createHeaderDecoder();
    await assert.rejects(decoder.decode(block));
    decoder.close();
  });
}
