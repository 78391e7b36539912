/**
 * Replays recorded requests for custom resources and the responses of a Kubernetes server, as far as they need no
 * server.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Cause } from '../field-error.ts';
import { type JsonObject, type JsonSchema, type MetadataRules, structuralSchema } from '../structural.ts';

type Step = {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly query?: { readonly dryRun?: string; readonly fieldValidation?: string };
  readonly body?: unknown;
};
/** The parts of a CRD that are needed to read objects. */
type Definition = {
  readonly spec: {
    readonly versions?: readonly {
      readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
      readonly subresources?: { readonly status?: object };
    }[];
  };
};
type Case = { readonly name: string; readonly steps: readonly Step[] };
type Answer = { readonly status: number; readonly warnings?: readonly string[]; readonly body: AnswerBody };
type AnswerBody = JsonObject & { readonly details?: { readonly causes?: readonly Cause[] } };

const shared = new URL('../../../../../shared/', import.meta.url);
const recording = new URL('reference/differential-seed-1.json.gz', shared);

/** These cases depend on the server: metadata, versions, kinds. */
const serverCases = ['metadata rules', 'several versions', 'objects of other kinds', 'version no longer served'];

test('objects get the recorded responses of a Kubernetes server', async (context) => {
  if (!existsSync(recording))
    return context.diagnostic('not compared: the recorded answers are not beside this project');
  const recorded: { readonly cases: { readonly [name: string]: { readonly answers: readonly Answer[] } } } = JSON.parse(
    gunzipSync(readFileSync(recording)).toString(),
  );
  const kit: unknown = await import(new URL('check/lib/kit.mjs', shared).href);
  const { cases } = (await import(new URL('check/cases/crds.mjs', shared).href)) as {
    cases: (input: { kit: unknown }) => Iterable<Case>;
  };
  let compared = 0;
  for (const { name, steps } of cases({ kit })) {
    if (name.startsWith('refused') || serverCases.includes(name)) continue;
    compared += replay(name, steps, recorded.cases[`crds/${name}`]!.answers);
  }
  assert.ok(compared > 170, `${compared} answers`);
});

function replay(name: string, steps: readonly Step[], answers: readonly Answer[]): number {
  const [version] = (steps[0]!.body as Definition).spec.versions ?? [];
  let schema: JsonSchema = version?.schema?.openAPIV3Schema ?? {};
  let stored: JsonObject | undefined;
  let compared = 0;
  for (const [index, step] of steps.entries()) {
    const { status, body, warnings = [] } = answers[index]!;
    if (step.path.includes('/customresourcedefinitions/') && step.method === 'PATCH')
      schema = patched(schema, step.body);
    const sent = sentObject(step, stored, version?.subresources?.status !== undefined);
    if (sent && (status < 300 || status === 422)) {
      const label = `${name}, step ${index}: ${JSON.stringify(step.body)}`;
      const structural = structuralSchema(schema, { metadata });
      const [pruned, ruleWarnings]: [string[], string[]] = [[], []];
      const { object } = structural.read(sent, pruned);
      const causes =
        step.method === 'POST' ? structural.validate(object) : structural.validateUpdate(object, stored!, ruleWarnings);
      const lines = (list: readonly Cause[]) =>
        [...new Set(list.map((cause) => `${cause.field}: ${cause.message}`))].sort();
      assert.deepEqual(lines(causes), lines(body.details?.causes ?? []), label);
      if (status < 300) {
        assert.deepEqual(object['spec'], body['spec'], label);
        const unknown = step.query?.fieldValidation === 'Ignore' ? [] : pruned.map((path) => `unknown field "${path}"`);
        assert.deepEqual([...unknown, ...ruleWarnings], warnings.map(textOf), label);
      }
      compared++;
    }
    if (status < 300 && step.query?.dryRun === undefined && body['kind'] === 'One') stored = body;
  }
  return compared;
}

/** Returns the object of a step, if it can be computed without a server. */
function sentObject(step: Step, stored: JsonObject | undefined, hasStatus: boolean): JsonObject | undefined {
  const { method, path, contentType, body } = step;
  if (typeof body !== 'object' || body === null || JSON.stringify(body).includes('@raw')) return undefined;
  const isCreate = method === 'POST' && path.endsWith('/ones');
  const isMerge = method === 'PATCH' && path.endsWith('/ones/a') && contentType === 'application/merge-patch+json';
  if (!isCreate && !(isMerge && stored)) return undefined;
  const merged = (isCreate ? body : merge(stored, body)) as JsonObject;
  if (!hasStatus) return merged;
  const { status: _, ...rest } = merged;
  return isCreate || stored?.['status'] === undefined ? rest : { ...rest, status: stored['status'] };
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged = new Map(Object.entries(typeof target === 'object' && target !== null ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** The only patch of a CRD in the cases replaces the fields of `spec`. */
function patched(schema: JsonSchema, patch: unknown): JsonSchema {
  const [{ value }] = patch as [{ value: { readonly [name: string]: JsonSchema } }];
  const { spec, ...others } = schema.properties ?? {};
  return { ...schema, properties: { ...others, spec: { ...spec, properties: value } } };
}

/** Returns the text of a warning header: `299 - "text"`. */
function textOf(header: string): string {
  return header.slice('299 - "'.length, -1).replaceAll('\\"', '"');
}

const knownMetadata = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'uid',
  'creationTimestamp',
];
const metadata: MetadataRules = {
  read(found) {
    const entries = Object.entries(found as JsonObject);
    const unknown = entries.map(([name]) => name).filter((name) => !knownMetadata.includes(name));
    return { metadata: Object.fromEntries(entries.filter(([name]) => knownMetadata.includes(name))), unknown };
  },
  validate: () => [],
};
