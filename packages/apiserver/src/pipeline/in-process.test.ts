import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { event } from '@kruise/api/core/event';
import { flowSchema } from '@kruise/api/flowcontrol/flowschema';
import { priorityLevelConfiguration } from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import { backgroundClient } from '@kruise/client/client';
import { createMetrics, type MetricRegistry, scrape } from '@kruise/client/metrics';
import { isForbidden, isNotFound } from '@kruise/machinery/status';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { AdmissionPlugin } from '../admission/admission.ts';
import { createAuditLog } from '../audit/audit.ts';
import { readPolicy } from '../audit/policy.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { startTestServer } from '../testing/test-server.ts';

const settings = { name: 'settings', namespace: 'default' };

/** Returns the values of the series whose names and labels match. */
function valuesOf(metrics: MetricRegistry, series: RegExp): number[] {
  const lines = scrape(metrics).text.split('\n');
  return lines.filter((line) => series.test(line)).map((line) => Number(line.slice(line.lastIndexOf(' '))));
}

test('in-process requests are counted with their status codes', async () => {
  const metrics = createMetrics();
  await using server = await startTestServer({ metrics });
  await assert.rejects(server.client.get(configMap, settings), isNotFound);
  await server.client.create(configMap, { metadata: settings });
  const total = (verb: string, code: number) =>
    valuesOf(metrics, new RegExp(`^apiserver_request_total{verb="${verb}",.*resource="configmaps",.*code="${code}"`));
  assert.deepEqual([total('GET', 404), total('POST', 201), total('GET', 200)], [[1], [1], []]);
  assert.deepEqual(valuesOf(metrics, /^apiserver_current_inflight_requests/), [0, 0]);
});

test('an in-process watch counts as long as it lasts', async () => {
  const metrics = createMetrics();
  await using server = await startTestServer({ metrics });
  const longRunningRequests = () =>
    valuesOf(metrics, /^apiserver_longrunning_requests{verb="WATCH",.*resource="configmaps"/);
  const { metadata } = await server.client.list(configMap);
  const watch = server.client.watch(configMap, { resourceVersion: metadata.resourceVersion!, namespace: 'default' });
  await server.client.create(configMap, { metadata: settings });
  for await (const _ of watch) {
    assert.deepEqual(longRunningRequests(), [1]);
    break;
  }
  assert.deepEqual(longRunningRequests(), [0]);
  assert.deepEqual(valuesOf(metrics, /^apiserver_watch_events_total{.*kind="ConfigMap"/), [1]);
});

test('in-process requests are audited like others, without a source address', async () => {
  const lines: string[] = [];
  const policy = readPolicy({
    kind: 'Policy',
    apiVersion: 'audit.k8s.io/v1',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'RequestResponse', users: ['eve'] }],
  });
  await using server = await startTestServer({ audit: createAuditLog(policy, (line) => lines.push(line)) });
  const eve = server.clientOf({ username: 'eve', groups: ['system:masters'] });
  await eve.create(configMap, { metadata: settings, data: { k: 'v' } }, { dryRun: true });
  const [record] = lines.map((line) => JSON.parse(line));
  assert.equal(lines.length, 1);
  assert.deepEqual(
    [record.stage, record.verb, record.requestURI, record.user.username, record.responseStatus.code],
    ['ResponseComplete', 'create', '/api/v1/namespaces/default/configmaps?dryRun=All', 'eve', 201],
  );
  assert.deepEqual([record.requestObject.data, record.responseObject.data], [{ k: 'v' }, { k: 'v' }]);
  assert.ok(!('sourceIPs' in record));
  assert.match(record.auditID, /^[0-9a-f-]{36}$/);
});

test('a denied in-process request is audited without its object, as over HTTP', async () => {
  const lines: string[] = [];
  const policy = readPolicy({
    kind: 'Policy',
    apiVersion: 'audit.k8s.io/v1',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'RequestResponse', users: ['eve'] }],
  });
  await using server = await startTestServer({ audit: createAuditLog(policy, (line) => lines.push(line)) });
  const eve = server.clientOf({ username: 'eve', groups: [] });
  await assert.rejects(eve.create(configMap, { metadata: settings, data: { k: 'v' } }), isForbidden);
  const [record] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([record.responseStatus.code, record.requestObject], [403, undefined]);
});

/** Starts a server on which eve has her own priority level with three seats and no queue, and blocks her writes. */
async function startCrowdedServer() {
  const clock = virtualClock();
  const metrics = createMetrics();
  const waiting: (() => void)[] = [];
  const gate: AdmissionPlugin = {
    name: 'Gate',
    handles: ({ context }) => context.user.username === 'eve',
    validate: () => new Promise<void>((proceed) => waiting.push(proceed)),
  };
  // system:masters would be exempt from flow control.
  const authorizer: Authorizer = { authorize: () => ({ verdict: 'allow', reason: '' }) };
  const server = await startTestServer({ clock, metrics, authorizer, admission: [gate] });
  await server.client.create(priorityLevelConfiguration, {
    metadata: { name: 'narrow' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
    } as never,
  });
  await server.client.create(flowSchema, {
    metadata: { name: 'eve' },
    spec: {
      priorityLevelConfiguration: { name: 'narrow' },
      matchingPrecedence: 50,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'eve' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  });
  await server.core.feed.waitForCurrent();
  const eve = server.clientOf({ username: 'eve', groups: [] });
  const make = (name: string) => eve.create(configMap, { metadata: { name, namespace: 'default' } });
  return { server, clock, metrics, waiting, make };
}

test('in-process requests take seats, and are retried after 429', async () => {
  const { server, clock, metrics, waiting, make } = await startCrowdedServer();
  await using _ = server;
  const making = ['a', 'b', 'c', 'd'].map(make);
  await clock.advanceAsync(1000);
  assert.equal(waiting.length, 3);
  assert.deepEqual(valuesOf(metrics, /^apiserver_flowcontrol_rejected_requests_total{priority_level="narrow"/), [2]);

  waiting.shift()!();
  await making[0];
  await clock.advanceAsync(1000);
  assert.equal(waiting.length, 3);
  for (const proceed of waiting) proceed();
  const made = await Promise.all(making);
  assert.deepEqual(
    made.map(({ metadata }) => metadata.name),
    ['a', 'b', 'c', 'd'],
  );
});

test('a request that was retried ten times fails with 429', async () => {
  const { server, clock, waiting, make } = await startCrowdedServer();
  await using _ = server;
  const making = ['a', 'b', 'c'].map(make);
  const refused = assert.rejects(make('d'), { code: 429 });
  await clock.advanceAsync(10_000);
  await refused;
  for (const proceed of waiting) proceed();
  await Promise.all(making);
});

test('background requests let other requests run first', async () => {
  const { server, clock, waiting, make } = await startCrowdedServer();
  await using _ = server;
  const making = make('a');
  let isNotified = false;
  const notifying = backgroundClient(server.client)
    .create(event, {
      metadata: { name: 'started', namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'a' },
    })
    .then(() => (isNotified = true));
  await clock.advanceAsync(500);
  assert.deepEqual([waiting.length, isNotified], [1, false]);
  waiting[0]!();
  await making;
  await notifying;
  assert.equal(isNotified, true);
});
