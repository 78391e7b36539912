import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AssignedSeats,
  createFairQueue,
  deal,
  type QueueShape,
  RejectedError,
  waitTimeout,
} from './fair-queue.ts';
import { createSeats } from './seats.ts';

const shape: QueueShape = { queues: 8, handSize: 2, lengthLimit: 2 };
const forever = () => new AbortController().signal;

function place(total: number, as: QueueShape = shape) {
  const seats = createSeats(total).setShare('level', { minimum: total, maximum: total });
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
  assert.ok(!(queue.acquire('a', 1, forever) instanceof Promise));
  assert.ok(!(queue.acquire('a', 1, forever) instanceof Promise));
  assert.ok(queue.acquire('a', 1, forever) instanceof Promise);
  assert.equal(queue.waiting, 1);
});

test('a released seat goes to a waiting request', async () => {
  const { queue } = place(1);
  const first = queue.acquire('a', 1, forever) as AssignedSeats;
  const second = queue.acquire('a', 1, forever);
  first.leave();
  (await second).leave();
  assert.equal(queue.waiting, 0);
  assert.ok(!(queue.acquire('b', 1, forever) instanceof Promise));
});

test('a seat is released once, however often it is released', () => {
  const { queue } = place(1);
  const first = queue.acquire('a', 1, forever) as AssignedSeats;
  first.leave();
  first.leave();
  assert.ok(!(queue.acquire('a', 1, forever) instanceof Promise));
  assert.ok(queue.acquire('a', 1, forever) instanceof Promise);
});

test('a full queue rejects requests', () => {
  const { queue } = place(1, { queues: 1, handSize: 1, lengthLimit: 2 });
  queue.acquire('a', 1, forever);
  void queue.acquire('a', 1, forever);
  void queue.acquire('a', 1, forever);
  assert.throws(() => queue.acquire('a', 1, forever), new RejectedError('queue-full'));
});

test('a level without queues rejects requests without a seat', () => {
  const seats = createSeats(1).setShare('level', { minimum: 1, maximum: 1 });
  const rejecting = createFairQueue(seats, () => 0, undefined);
  rejecting.acquire('a', 1, forever);
  assert.throws(() => rejecting.acquire('a', 1, forever), new RejectedError('concurrency-limit'));
});

test('a request that waits too long is rejected, and the next one is served', async () => {
  const { queue } = place(1);
  const first = queue.acquire('a', 1, forever) as AssignedSeats;
  const waitSignal = new AbortController();
  const second = queue.acquire('b', 1, () => waitSignal.signal) as Promise<AssignedSeats>;
  const third = queue.acquire('c', 1, forever);
  waitSignal.abort(waitTimeout);
  await assert.rejects(second, new RejectedError('time-out'));
  first.leave();
  await third;
});

test('a flow with many requests does not starve a flow with few', async () => {
  const { queue, pass } = place(1, { queues: 64, handSize: 4, lengthLimit: 100 });
  const first = queue.acquire('greedy', 1, forever) as AssignedSeats;
  const order: string[] = [];
  const acquire = (flow: string) =>
    (queue.acquire(flow, 1, forever) as Promise<AssignedSeats>).then((seat) => {
      order.push(flow);
      pass(10);
      seat.leave();
    });
  const all = [...Array.from({ length: 20 }, () => acquire('greedy')), acquire('modest')];
  pass(10);
  first.leave();
  await Promise.all(all);
  assert.ok(order.indexOf('modest') < 6, `modest came ${order.indexOf('modest') + 1}.`);
});

test('a level uses seats that another level releases', async () => {
  const seats = createSeats(1);
  const shares = { minimum: 0, maximum: 1 };
  const one = createFairQueue(seats.setShare('one', shares), () => 0, shape);
  const other = createFairQueue(seats.setShare('other', { minimum: 1, maximum: 1 }), () => 0, shape);
  const held = other.acquire('a', 1, forever) as AssignedSeats;
  const alone = one.acquire('a', 1, forever) as AssignedSeats;
  const next = one.acquire('a', 1, forever);
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
