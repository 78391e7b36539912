import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, scrape } from './metrics.ts';

test('a counter is written with its labels, in Prometheus text', () => {
  const metrics = createMetrics();
  const requests = metrics.counter('requests_total', 'Requests.', ['verb', 'code']);
  requests.of('get', '200').increase();
  requests.of('get', '200').increase(2);
  requests.of('list', '500').increase();
  assert.equal(
    metrics.text(),
    [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{verb="get",code="200"} 3',
      'requests_total{verb="list",code="500"} 1',
      '',
    ].join('\n'),
  );
});

test('OpenMetrics omits the suffix of a counter family and ends with EOF', () => {
  const metrics = createMetrics();
  metrics.counter('requests_total', 'Requests.').of().increase();
  assert.equal(
    metrics.text('openmetrics'),
    '# HELP requests Requests.\n# TYPE requests counter\nrequests_total 1\n# EOF\n',
  );
});

test('a histogram has cumulative buckets', () => {
  const metrics = createMetrics();
  const seconds = metrics.histogram('wait_seconds', 'Waiting.', ['queue'], [0.1, 1]).of('a');
  for (const value of [0.1, 0.5, 3]) seconds.observe(value);
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), [
    'wait_seconds_bucket{queue="a",le="0.1"} 1',
    'wait_seconds_bucket{queue="a",le="1"} 2',
    'wait_seconds_bucket{queue="a",le="+Inf"} 3',
    'wait_seconds_sum{queue="a"} 3.6',
    'wait_seconds_count{queue="a"} 3',
  ]);
});

test('quotes, backslashes and line feeds in a label value are escaped', () => {
  const metrics = createMetrics();
  metrics.gauge('a', 'A.', ['l']).of('"\\\n').set(1);
  assert.equal(metrics.text().split('\n')[2], String.raw`a{l="\"\\\n"} 1`);
});

test('a gauge is updated at collection', () => {
  const metrics = createMetrics();
  const size = metrics.gauge('size', 'Size.').of();
  let now = 1;
  metrics.onCollect(() => size.set(now));
  metrics.text();
  now = 5;
  assert.match(metrics.text(), /^size 5$/m);
});

test('a detached series is not collected', () => {
  const metrics = createMetrics();
  const gauge = metrics.gauge('rooms', 'Rooms.', ['house']);
  const [a, b] = [['a'], ['b']];
  for (const house of [a, b]) gauge.attach(house).set(1);
  gauge.detach(a);
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), ['rooms{house="b"} 1']);
});

test('of two series with the same labels the older one is collected until it is detached', () => {
  const metrics = createMetrics();
  const gauge = metrics.gauge('rooms', 'Rooms.', ['house']);
  const [older, newer] = [['a'], ['a']];
  gauge.attach(older).set(1);
  gauge.attach(newer).set(2);
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), ['rooms{house="a"} 1']);
  gauge.detach(older);
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), ['rooms{house="a"} 2']);
});

test('a metric name can be registered once', () => {
  const metrics = createMetrics();
  metrics.gauge('a', 'A.');
  assert.throws(() => metrics.counter('a', 'A.'), /already registered/);
});

test('a scraper receives the format it accepts', () => {
  const metrics = createMetrics();
  assert.match(scrape(metrics, 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5').type, /openmetrics/);
  assert.match(scrape(metrics, '*/*').type, /^text\/plain; version=0\.0\.4/);
});

test('the chunks of a text are short, regardless of the number of series, and add up to it', () => {
  const metrics = createMetrics();
  const gauge = metrics.gauge('rooms', 'Rooms.', ['house']);
  for (let house = 0; house < 5000; house++) gauge.of(String(house)).set(house);
  const pieces = [...metrics.chunks('openmetrics')];
  assert.ok(pieces.length > 5 && pieces.every((piece) => piece.length < 32 * 1024));
  assert.equal(pieces.join(''), metrics.text('openmetrics'));
  assert.equal(pieces.join('').split('\n').length, 5000 + 4);
});
