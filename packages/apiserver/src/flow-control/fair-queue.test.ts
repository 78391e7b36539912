import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairQueue, deal, type QueueShape, RefusedError, type Seated, timeOut } from './fair-queue.ts';
import { createSeats } from './seats.ts';

const shape: QueueShape = { queues: 8, handSize: 2, lengthLimit: 2 };
const forever = () => new AbortController().signal;

function place(total: number, as: QueueShape = shape) {
  const seats = createSeats(total).allot('level', { minimum: total, maximum: total });
  let now = 0;
  return {
    queue: createFairQueue(seats, () => now, as),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('requests do not wait while seats are free', () => {
  const { queue } = place(2);
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(queue.enter('a', 1, forever) instanceof Promise);
  assert.equal(queue.waiting, 1);
});

test('a released seat goes to a waiting request', async () => {
  const { queue } = place(1);
  const first = queue.enter('a', 1, forever) as Seated;
  const second = queue.enter('a', 1, forever);
  first.leave();
  (await second).leave();
  assert.equal(queue.waiting, 0);
  assert.ok(!(queue.enter('b', 1, forever) instanceof Promise));
});

test('a seat is released once, however often it is released', () => {
  const { queue } = place(1);
  const first = queue.enter('a', 1, forever) as Seated;
  first.leave();
  first.leave();
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(queue.enter('a', 1, forever) instanceof Promise);
});

test('a full queue rejects requests', () => {
  const { queue } = place(1, { queues: 1, handSize: 1, lengthLimit: 2 });
  queue.enter('a', 1, forever);
  void queue.enter('a', 1, forever);
  void queue.enter('a', 1, forever);
  assert.throws(() => queue.enter('a', 1, forever), new RefusedError('queue-full'));
});

test('a level without queues rejects requests without a seat', () => {
  const seats = createSeats(1).allot('level', { minimum: 1, maximum: 1 });
  const rejecting = createFairQueue(seats, () => 0, undefined);
  rejecting.enter('a', 1, forever);
  assert.throws(() => rejecting.enter('a', 1, forever), new RefusedError('concurrency-limit'));
});

test('a request that waits too long is rejected, and the next one is served', async () => {
  const { queue } = place(1);
  const first = queue.enter('a', 1, forever) as Seated;
  const patience = new AbortController();
  const second = queue.enter('b', 1, () => patience.signal) as Promise<Seated>;
  const third = queue.enter('c', 1, forever);
  patience.abort(timeOut);
  await assert.rejects(second, new RefusedError('time-out'));
  first.leave();
  await third;
});

test('a flow with many requests does not starve a flow with few', async () => {
  const { queue, pass } = place(1, { queues: 64, handSize: 4, lengthLimit: 100 });
  const first = queue.enter('greedy', 1, forever) as Seated;
  const order: string[] = [];
  const come = (flow: string) =>
    (queue.enter(flow, 1, forever) as Promise<Seated>).then((seat) => {
      order.push(flow);
      pass(10);
      seat.leave();
    });
  const all = [...Array.from({ length: 20 }, () => come('greedy')), come('modest')];
  pass(10);
  first.leave();
  await Promise.all(all);
  assert.ok(order.indexOf('modest') < 6, `modest came ${order.indexOf('modest') + 1}.`);
});

test('a level uses seats that another level releases', async () => {
  const seats = createSeats(1);
  const shares = { minimum: 0, maximum: 1 };
  const one = createFairQueue(seats.allot('one', shares), () => 0, shape);
  const other = createFairQueue(seats.allot('other', { minimum: 1, maximum: 1 }), () => 0, shape);
  const held = other.enter('a', 1, forever) as Seated;
  const alone = one.enter('a', 1, forever) as Seated;
  const next = one.enter('a', 1, forever);
  assert.ok(next instanceof Promise);
  alone.leave();
  held.leave();
  await next;
});

test('a hand has distinct cards of the deck, deterministic by flow', () => {
  fc.assert(
    fc.property(
      fc.nat(0xffffffff),
      fc.integer({ min: 1, max: 128 }),
      fc.integer({ min: 1, max: 8 }),
      (hash, deck, size) => {
        const hand = deal(hash, deck, size);
        assert.equal(new Set(hand).size, Math.min(size, deck));
        assert.ok(hand.every((card) => card >= 0 && card < deck));
        assert.deepEqual(deal(hash, deck, size), hand);
      },
    ),
  );
});
