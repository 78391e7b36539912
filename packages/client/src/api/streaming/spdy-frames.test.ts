import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createFrameReader,
  dataHead,
  type Frame,
  goAwayFrame,
  pingFrame,
  resetFrame,
  SpdyProtocolError,
  settingsFrame,
  synReplyFrame,
  synStreamFrame,
  windowUpdateFrame,
} from './spdy-frames.ts';

const block = Buffer.from('block');
const all: readonly (readonly [bytes: Buffer, frame: Frame])[] = [
  [synStreamFrame(1, block, false), { type: 'synStream', streamId: 1, last: false, unidirectional: false, block }],
  [synReplyFrame(1, block), { type: 'synReply', streamId: 1, last: false, block }],
  [resetFrame(3, 5), { type: 'reset', streamId: 3, status: 5 }],
  [settingsFrame(65_536), { type: 'settings', settings: new Map([[7, 65_536]]) }],
  [pingFrame(9), { type: 'ping', id: 9 }],
  [goAwayFrame(7, 1), { type: 'goAway', lastStreamId: 7, status: 1 }],
  [windowUpdateFrame(0, 4096), { type: 'windowUpdate', streamId: 0, delta: 4096 }],
];

test('frames are decoded regardless of how the bytes are split', () => {
  const bytes = Buffer.concat(all.map(([each]) => each));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 10 }), (cuts) => {
      const read = createFrameReader();
      const found: Frame[] = [];
      let from = 0;
      for (const to of [...cuts.sort((a, b) => a - b), bytes.length]) {
        found.push(...read(bytes.subarray(from, to)));
        from = to;
      }
      assert.deepEqual(
        found,
        all.map(([, frame]) => frame),
      );
    }),
  );
});

test('data is delivered as it arrives, and only the last chunk ends the stream', () => {
  const read = createFrameReader();
  const pieces = [...read(dataHead(5, 6, true)), ...read(Buffer.from('abc')), ...read(Buffer.from('def'))];
  assert.deepEqual(pieces, [
    { type: 'data', streamId: 5, data: Buffer.from('abc'), last: false },
    { type: 'data', streamId: 5, data: Buffer.from('def'), last: true },
  ]);
});

test('unknown frame types are ignored', () => {
  const unknown = Buffer.from('800300630000000201020000', 'hex').subarray(0, 10);
  assert.deepEqual([...createFrameReader()(Buffer.concat([unknown, pingFrame(1)]))], [{ type: 'ping', id: 1 }]);
});

const broken = {
  'another version of SPDY': '8002000600000004',
  'a control frame of megabytes': '8003000100ffffff',
  'a reset without a status': '800300030000000400000001',
  'settings with a wrong count': '800300040000000400000005',
  'a stream opened without headers': '800300010000000400000001',
};
for (const [what, hex] of Object.entries(broken)) {
  test(`${what} is an error`, () => {
    assert.throws(() => [...createFrameReader()(Buffer.from(hex, 'hex'))], SpdyProtocolError);
  });
}
