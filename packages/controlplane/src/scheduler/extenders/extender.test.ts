import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@kruise/client/log';
import { seededRandom } from '@kruise/values/random';
import { podInfoOf } from '../cluster/pod-info.ts';
import { messageOf } from '../diagnosis.ts';
import type { Candidate } from '../preemption.ts';
import { clusterOf, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { profileIn } from '../testing/schedule-result.ts';
import { decideWith, filterCandidates } from './extended.ts';
import { createExtender, type ExtenderConfiguration, type Post } from './extender.ts';

const configuration: ExtenderConfiguration = {
  urlPrefix: 'http://extender/',
  filterVerb: 'filter',
  prioritizeVerb: '',
  preemptVerb: '',
  bindVerb: '',
  weight: 1,
  nodeCacheCapable: true,
  managedResources: [],
  ignorable: false,
  httpTimeoutMs: 5000,
};

type Answer = { readonly code?: number; readonly body?: unknown };
type Asked = { readonly url: string; readonly body: { readonly [name: string]: unknown } };

/** Returns an extender with a constant response, and the requests it received. */
function answering(answer: Answer, more: Partial<ExtenderConfiguration> = {}) {
  const asked: Asked[] = [];
  const post: Post = async (url, body) => {
    asked.push({ url, body: body as Asked['body'] });
    return { code: answer.code ?? 200, body: answer.body };
  };
  return { extender: createExtender({ ...configuration, ...more }, post), asked };
}

const cluster = clusterOf([nodeOf('a'), nodeOf('b'), nodeOf('c')]);

/** Returns the node of a Pod, or the reason why it is unschedulable. */
async function scheduleWith(
  extenders: readonly ReturnType<typeof createExtender>[],
  traits: PodTraits = {},
): Promise<string> {
  const state = { cluster, nominations: { onNode: () => [] }, random: seededRandom(1), start: 0 };
  const { decision } = await decideWith(extenders, profileIn(), podInfoOf(podOf('p', traits)), state, silentLog);
  if (decision.type === 'placed') return decision.node.name;
  return decision.type === 'rejected' ? messageOf(decision.diagnosis) : decision.type;
}

test('an extender filters nodes, with reasons', async () => {
  const { extender, asked } = answering({ body: { NodeNames: ['b'], FailedNodes: { a: 'too far', c: 'too far' } } });
  assert.equal(await scheduleWith([extender]), 'b');
  assert.equal(asked[0]?.url, 'http://extender/filter');
  assert.deepEqual([asked[0]?.body.NodeNames, asked[0]?.body.Nodes], [['a', 'b', 'c'], null]);
});

test('a Pod that extenders reject everywhere is unschedulable', async () => {
  const body = {
    NodeNames: [],
    FailedNodes: { a: 'too far', b: 'too far' },
    FailedAndUnresolvableNodes: { c: 'too dear' },
  };
  assert.equal(await scheduleWith([answering({ body }).extender]), '0/3 nodes are available: 1 too dear, 2 too far.');
});

test('an extender without a node cache receives the nodes', async () => {
  const { extender, asked } = answering({ body: { Nodes: { items: [nodeOf('c')] } } }, { nodeCacheCapable: false });
  assert.equal(await scheduleWith([extender]), 'c');
  const { items } = asked[0]!.body.Nodes as { readonly items: readonly object[] };
  assert.deepEqual([items.length, asked[0]?.body.NodeNames], [3, null]);
});

test('extenders filter one after the other', async () => {
  const first = answering({ body: { NodeNames: ['a', 'c'] } });
  const second = answering({ body: { NodeNames: ['c'] } });
  assert.equal(await scheduleWith([first.extender, second.extender]), 'c');
  assert.deepEqual(second.asked[0]?.body.NodeNames, ['a', 'c']);
});

const failures: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
  ['returns an error', { body: { Error: 'no idea' } }, /^no idea$/],
  [
    'returns another status code',
    { code: 500 },
    /^failed filter with extender at URL http:\/\/extender\/filter, code 500$/,
  ],
  [
    'returns a node that was not in the request',
    { body: { NodeNames: ['z'] } },
    /claims a filtered node "z" which is not found/,
  ],
];
for (const [name, answer, message] of failures) {
  test(`scheduling fails if an extender ${name}, unless it is ignorable`, async () => {
    await assert.rejects(scheduleWith([answering(answer).extender]), { message });
    assert.ok(['a', 'b', 'c'].includes(await scheduleWith([answering(answer, { ignorable: true }).extender])));
  });
}

test('an extender adds weighted scores', async () => {
  const verbs = { filterVerb: '', prioritizeVerb: 'score', weight: 5 };
  const { extender } = answering(
    {
      body: [
        { Host: 'b', Score: 10 },
        { Host: 'c', Score: 3 },
      ],
    },
    verbs,
  );
  assert.equal(await scheduleWith([extender]), 'b');
  assert.deepEqual(
    await extender.prioritize?.(podInfoOf(podOf('p')), cluster.nodes),
    new Map([
      ['b', 500],
      ['c', 150],
    ]),
  );
  assert.ok(['a', 'b', 'c'].includes(await scheduleWith([answering({ code: 500 }, verbs).extender])));
});

test('an extender is called only for Pods that request its managed resources', async () => {
  const { extender, asked } = answering({ body: { NodeNames: ['b'] } }, { managedResources: ['example.com/gpu'] });
  await scheduleWith([extender]);
  assert.deepEqual(asked, []);
  assert.equal(extender.isInterested(podInfoOf(podOf('p', { requests: { 'example.com/gpu': '1' } }))), true);
});

test('an extender may remove victims, or whole nodes', async () => {
  const busy = clusterOf(
    [nodeOf('a'), nodeOf('b')],
    [podOf('x', { on: 'a' }), podOf('y', { on: 'a' }), podOf('z', { on: 'b' })],
  );
  const victims = (name: string) => [...(busy.node(name)?.pods.values() ?? [])];
  const candidates: Candidate[] = ['a', 'b'].map((node) => ({ node, victims: victims(node), violations: 0 }));
  const left = (body: unknown, more: Partial<ExtenderConfiguration> = {}) => {
    const { extender } = answering({ body }, { preemptVerb: 'preempt', ...more });
    return filterCandidates([extender], podInfoOf(podOf('p')), candidates, busy.node, silentLog);
  };
  const [remaining, ...others] = await left({
    NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-of-y' }], NumPDBViolations: 1 } },
  });
  assert.deepEqual(others, []);
  assert.deepEqual(
    [remaining?.node, remaining?.victims.map(({ name }) => name), remaining?.violations],
    ['a', ['y'], 1],
  );
  await assert.rejects(
    left({ NodeNameToMetaVictims: { b: { Pods: [{ UID: 'uid-of-x' }] } } }),
    /the pod is not found on that node/,
  );
  await assert.rejects(
    left({ NodeNameToMetaVictims: { b: { Pods: [] } } }),
    /expected at least one victim pod on node "b"/,
  );
  assert.deepEqual(await left({ NodeNameToMetaVictims: { b: { Pods: [] } } }, { ignorable: true }), []);
});

test('an extender binds Pods itself, and reports failures', async () => {
  const binding = { bindVerb: 'bind' };
  const { extender, asked } = answering({ body: {} }, binding);
  await extender.bind?.(podInfoOf(podOf('p')), 'b');
  assert.deepEqual(asked[0]?.body, { PodName: 'p', PodNamespace: 'default', PodUID: 'uid-of-p', Node: 'b' });
  const refusing = answering({ body: { Error: 'taken' } }, binding).extender;
  await assert.rejects(refusing.bind!(podInfoOf(podOf('p')), 'b'), /^Error: taken$/);
});
