import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDeframer, frame } from './framing.ts';

test('messages are decoded regardless of how the bytes are split', () => {
  const anyCut = fc.record({
    messages: fc.array(fc.uint8Array({ maxLength: 40 })),
    cuts: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
  });
  fc.assert(
    fc.property(anyCut, ({ messages, cuts }) => {
      const bytes = Buffer.concat(messages.map(frame));
      const deframer = createDeframer(100);
      const received: Uint8Array[] = [];
      for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
        const end = offset + cuts[turn % cuts.length]!;
        received.push(...deframer.push(bytes.subarray(offset, end)));
        offset = end;
      }
      assert.deepEqual(received.map(Buffer.from), messages.map(Buffer.from));
      assert.equal(deframer.hasPartialMessage(), false);
    }),
  );
});

test('a truncated message is partial', () => {
  const deframer = createDeframer(100);
  assert.deepEqual(deframer.push(frame(Buffer.from('message')).subarray(0, 8)), []);
  assert.equal(deframer.hasPartialMessage(), true);
});

test('a message above the limit is rejected before it is complete', () => {
  const deframer = createDeframer(100);
  assert.throws(
    () => deframer.push(Buffer.from([0, 0, 0, 0, 101])),
    /message of 101 bytes exceeds the limit of 100 bytes/,
  );
});

test('a compressed message is rejected', () => {
  assert.throws(() => createDeframer(100).push(Buffer.from([1, 0, 0, 0, 0])), /compressed/);
});
