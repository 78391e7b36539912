import { podSpec } from '@kruise/api/core/pod-spec';
import { podTemplate } from '@kruise/api/core/podtemplate';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { flatFields, type Node, type ObjectNode, resolve } from '@kruise/schema/language';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonMembers = { readonly [key: string]: Json };

/**
 * Returns an object of a kind in which every member is set; lists and maps have one element. Members have the type of
 * the schema; other validation rules are ignored. With `hasFullPods`, Pod specs in it are full as well; otherwise they
 * have a few members.
 */
export function fullObject(kind: Kind, { hasFullPods }: { readonly hasFullPods: boolean }): JsonMembers {
  const depths = new Map<Node, number>(hasFullPods ? [] : [[podSpec, Number.POSITIVE_INFINITY]]);
  const { apiVersion: _, kind: __, metadata: ___, ...members } = fullMembers(kind.root, depths);
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...members };
}

const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '7a0b7e6c-54f0-4a49-8d34-3b3ff8a2a1ee' };
const metadata: JsonMembers = {
  name: 'full',
  labels: { a: 'a' },
  annotations: { a: 'a' },
  finalizers: ['example.com/a'],
  ownerReferences: [{ ...reference, controller: true, blockOwnerDeletion: true }],
};

/** The CRDs of Kruise accept any Pod template, so webhooks are the first to read it. */
function fullTemplate(depths: Map<Node, number>): JsonMembers {
  const { template } = fullMembers(podTemplate.root, depths) as { readonly template: JsonMembers };
  return { ...template, metadata };
}

const shortPodSpec: JsonMembers = {
  initContainers: [{ name: 'b', image: 'a', resources: { requests: { cpu: '1' } } }],
  containers: [
    {
      name: 'a',
      image: 'a',
      env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
      volumeMounts: [{ name: 'a', mountPath: '/a' }],
      lifecycle: { preStop: { exec: { command: ['a'] } } },
    },
  ],
  volumes: [{ name: 'a', emptyDir: {} }],
  nodeSelector: { a: 'a' },
  tolerations: [{ key: 'a' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['a'] }] }],
      },
    },
  },
  readinessGates: [{ conditionType: 'a' }],
  imagePullSecrets: [{ name: 'a' }],
  securityContext: { fsGroup: 1 },
};

/** Maximum depth of recursive schemas. */
const maxRecursion = 1;

function fullMembers(node: ObjectNode, depths: Map<Node, number>): { [key: string]: Json } {
  const depth = depths.get(node) ?? 0;
  if (depth > maxRecursion) return node === podSpec ? shortPodSpec : {};
  depths.set(node, depth + 1);
  const members: { [key: string]: Json } = {};
  for (const [name, field] of flatFields(node)) {
    const value = resolve(field.node);
    members[name] = value.type === 'any' && name === 'template' ? fullTemplate(depths) : fullValue(value, depths);
  }
  depths.set(node, depth);
  return members;
}

function fullValue(node: Exclude<Node, { type: 'lazy' }>, depths: Map<Node, number>): Json {
  switch (node.type) {
    case 'string':
      return node.knownValues?.[0] ?? (node.constraints?.enum?.[0] as string | undefined) ?? 'a';
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
    case 'intOrString':
      return 1;
    case 'bytes':
      return 'YQ==';
    case 'time':
      return '2024-01-01T00:00:00Z';
    case 'microTime':
      return '2024-01-01T00:00:00.000000Z';
    case 'duration':
      return '1s';
    case 'quantity':
      return '1';
    case 'any':
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    case 'map':
      return { a: fullValue(resolve(node.values), depths) };
    case 'list':
      return [fullValue(resolve(node.items), depths)];
    case 'object':
      return fullMembers(node, depths);
    case 'either':
      return fullValue(resolve(node.object), depths);
  }
}
