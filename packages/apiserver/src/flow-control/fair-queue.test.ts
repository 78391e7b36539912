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

test('while there are seats nobody waits', () => {
  const { queue } = place(2);
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(queue.enter('a', 1, forever) instanceof Promise);
  assert.equal(queue.waiting, 1);
});

test('a seat given back goes to whoever waits', async () => {
  const { queue } = place(1);
  const first = queue.enter('a', 1, forever) as Seated;
  const second = queue.enter('a', 1, forever);
  first.leave();
  (await second).leave();
  assert.equal(queue.waiting, 0);
  assert.ok(!(queue.enter('b', 1, forever) instanceof Promise));
});

test('a seat is given back once, however often its holder leaves', () => {
  const { queue } = place(1);
  const first = queue.enter('a', 1, forever) as Seated;
  first.leave();
  first.leave();
  assert.ok(!(queue.enter('a', 1, forever) instanceof Promise));
  assert.ok(queue.enter('a', 1, forever) instanceof Promise);
});

test('a full queue refuses', () => {
  const { queue } = place(1, { queues: 1, handSize: 1, lengthLimit: 2 });
  queue.enter('a', 1, forever);
  void queue.enter('a', 1, forever);
  void queue.enter('a', 1, forever);
  assert.throws(() => queue.enter('a', 1, forever), new RefusedError('queue-full'));
});

test('a level without queues refuses what it has no seat for', () => {
  const seats = createSeats(1).allot('level', { minimum: 1, maximum: 1 });
  const rejecting = createFairQueue(seats, () => 0, undefined);
  rejecting.enter('a', 1, forever);
  assert.throws(() => rejecting.enter('a', 1, forever), new RefusedError('concurrency-limit'));
});

test('whoever has waited long enough is refused, and the next in line is served', async () => {
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

test('a flow that sends much does not keep out one that sends little', async () => {
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

test('a level is served from seats that another gives back', async () => {
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

test('a hand has different cards, all of the deck, the same for the same flow', () => {
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
