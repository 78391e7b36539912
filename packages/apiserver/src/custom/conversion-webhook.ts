import type { WebhookConversion } from '@kruise/api/apiextensions/customresourcedefinition';
import { validateAnnotations, validateLabels } from '@kruise/api/meta/labels.validate';
import { isObject } from '@kruise/machinery/json-value';
import { unclassified } from '@kruise/machinery/status';
import { uuid } from '@kruise/machinery/uuid';
import { summary } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import type { Random } from '@kruise/values/random';
import type { KubeObject } from '../object.ts';
import type { WebhookCaller } from '../webhook/caller.ts';
import type { Converter } from './converter.ts';

export type ConversionWebhookParts = {
  readonly caller: Pick<WebhookCaller, 'call'>;
  readonly random: Random;
  readonly signal: AbortSignal;
};

/** Timeout of a conversion webhook. */
const timeoutSeconds = 30;
const reviewVersions = ['v1', 'v1beta1'];

/** Converts versions with a webhook. */
export function conversionWebhook(
  { clientConfig, conversionReviewVersions }: WebhookConversion,
  { caller, random, signal }: ConversionWebhookParts,
): Converter {
  return {
    async convert(objects, apiVersion) {
      const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
      if (foreign.length === 0) return objects;
      const fail = (why: string) => unclassified(`conversion webhook for ${printKind(foreign[0]!)} ${why}`);
      const version = conversionReviewVersions.find((each) => reviewVersions.includes(each));
      if (version === undefined || !clientConfig) throw unclassified('no supported conversion review versions');
      const reviewVersion = `apiextensions.k8s.io/${version}`;
      const uid = uuid(random);
      const review = {
        kind: 'ConversionReview',
        apiVersion: reviewVersion,
        request: { uid, desiredAPIVersion: apiVersion, objects: foreign },
      };
      let answer: unknown;
      try {
        answer = await caller.call(clientConfig, review, { timeoutSeconds, signal });
      } catch (error) {
        throw fail(`failed: ${(error as Error).message}`);
      }
      const answered = convertedObjects(answer, reviewVersion, uid);
      if ('error' in answered) throw fail(`failed: ${answered.error}`);
      const { converted } = answered;
      if (converted.length !== foreign.length) {
        throw fail(`returned ${converted.length} objects, expected ${foreign.length}`);
      }
      const made = new Map(
        foreign.map((object, index) => {
          const result = checked(object, converted[index], apiVersion);
          if ('error' in result) throw fail(formatFault(result.error, index, foreign.length));
          return [object, result.object];
        }),
      );
      return objects.map((object) => made.get(object) ?? object);
    },
  };
}

function printKind({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion}, Kind=${kind}`;
}

/** Formats the error of one object; the index is added if there are several objects. */
function formatFault({ subject, why }: Fault, index: number, count: number): string {
  if (count > 1)
    return `returned invalid ${subject === 'metadata' ? `metadata in object` : 'converted object'} at index ${index}: ${why}`;
  if (subject === 'metadata') return `returned invalid metadata: ${why}`;
  return subject === 'version' ? `returned invalid object at index 0: ${why}` : `returned invalid object: ${why}`;
}

type Review = {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly response?: {
    readonly uid?: string;
    readonly result?: { readonly status?: string; readonly message?: string };
    readonly convertedObjects?: readonly unknown[];
  };
};

function convertedObjects(
  answer: unknown,
  reviewVersion: string,
  uid: string,
): { readonly converted: readonly unknown[] } | { readonly error: string } {
  const { apiVersion = '', kind = '', response } = (isObject(answer) ? answer : {}) as Review;
  // Kubernetes does not validate v1beta1 reviews as strictly.
  const isStrict = reviewVersion.endsWith('/v1');
  if (isStrict && (apiVersion !== reviewVersion || kind !== 'ConversionReview')) {
    const got = `${String(apiVersion).includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
    return { error: `expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${got}` };
  }
  if (!response) return { error: 'no response provided' };
  if (isStrict && response.uid !== uid) {
    return { error: `expected response.uid=${quote(uid)}, got ${quote(response.uid ?? '')}` };
  }
  const { status = '', message = '' } = response.result ?? {};
  if (status !== 'Success') {
    return { error: message !== '' ? message : `response.result.status was '${status}', not 'Success'` };
  }
  return { converted: response.convertedObjects ?? [] };
}

type Fault = { readonly subject: 'version' | 'object' | 'metadata'; readonly why: string };

/** Validates a converted object: it must have the requested version, and the same identity and metadata. */
function checked(
  original: KubeObject,
  converted: unknown,
  apiVersion: string,
): { readonly object: KubeObject } | { readonly error: Fault } {
  const wrong = (subject: Fault['subject'], why: string) => ({ error: { subject, why } });
  if (!isObject(converted)) return wrong('object', 'is not an object');
  const made = converted as Partial<KubeObject>;
  if (made.apiVersion !== apiVersion) {
    return wrong('version', `invalid groupVersion (expected ${apiVersion}, received ${made.apiVersion ?? ''})`);
  }
  if (made.kind !== original.kind) {
    return wrong('version', `invalid kind (expected ${original.kind}, received ${made.kind ?? ''})`);
  }
  const metadata: unknown = made.metadata;
  for (const [name, field] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['UID', 'uid'],
  ] as const) {
    const [expected, got] = [original.metadata[field] ?? '', isObject(metadata) ? (metadata[field] ?? '') : ''];
    if (expected !== got) return wrong('object', `must have the same ${name}: ${expected} != ${got}`);
  }
  if (metadata === undefined) return wrong('metadata', 'missing metadata in converted object');
  if (!isObject(metadata)) return wrong('metadata', 'invalid metadata of type string in converted object');
  const { labels: _, annotations: __, ...kept } = original.metadata;
  const changed: { [field: string]: unknown } = {};
  for (const field of ['labels', 'annotations'] as const) {
    const values = metadata[field];
    if (values === undefined || values === null) continue;
    const fault = labelFault(field, values);
    if (fault !== undefined) return wrong('metadata', fault);
    changed[field] = values;
  }
  return { object: { ...made, metadata: { ...kept, ...changed } } as KubeObject };
}

function labelFault(field: 'labels' | 'annotations', values: unknown): string | undefined {
  if (!isObject(values)) return `invalid metadata.${field} of type ${typeof values} in converted object`;
  for (const [key, value] of Object.entries(values)) {
    if (typeof value !== 'string')
      return `metadata.${field}[${key}] must be a string, but is ${typeof value} in converted object`;
  }
  const texts = values as { readonly [key: string]: string };
  const causes =
    field === 'labels'
      ? [...validateLabels(texts, 'metadata.labels')]
      : [...validateAnnotations(texts, 'metadata.annotation')];
  return causes.length > 0 ? summary(causes) : undefined;
}
