/** AdmissionReview requests, and validation of the responses. */
import type { MutatingWebhook } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import type { ValidatingWebhook } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import type { Status } from '@kruise/api/meta/status';
import { isObject } from '@kruise/machinery/json-value';
import { badRequest, failure, internalError, StatusError } from '@kruise/machinery/status';
import { uuid } from '@kruise/machinery/uuid';
import { parseJson } from '@kruise/schema/json-text';
import { quote } from '@kruise/values/go-syntax';
import { WebhookCallError, type WebhookCaller } from '../../webhook/caller.ts';
import type { Attributes } from '../admission.ts';
import { requestOf } from '../expressions.ts';
import type { Hook, Invocation } from './hooks.ts';

/** Validated response of a webhook. */
export type WebhookResponse = {
  readonly allowed: boolean;
  readonly status?: Partial<Status>;
  /** JSON patch; empty if the webhook changes nothing. */
  readonly patch: readonly unknown[];
};

const versions = ['v1', 'v1beta1'] as const;
type Version = (typeof versions)[number];

/** Calls a webhook. Records the audit annotations and warnings of its response; throws on a denial or a failure. */
export async function callWebhook(
  caller: WebhookCaller,
  { webhook, timeoutSeconds }: Hook,
  attributes: Attributes,
  invocation: Invocation,
  mutating: boolean,
): Promise<WebhookResponse> {
  refuseDryRun(webhook, attributes);
  const { context } = attributes;
  const version = webhook.admissionReviewVersions?.find((each): each is Version => versions.includes(each as Version));
  if (!version) {
    throw new WebhookCallError(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const uid = uuid(context.random);
  const { dryRun, options, ...about } = requestOf(attributes, invocation.target);
  const { object = null, oldObject = null } = invocation;
  const review = {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...about, object, oldObject, dryRun, options },
  };
  const answered = await callWithErrors(() =>
    caller.call(webhook.clientConfig, review, { timeoutSeconds, signal: context.signal }),
  );
  const response = verified(answered, { version, uid, mutating });
  for (const [name, value] of Object.entries(response.auditAnnotations ?? {})) {
    context.auditAnnotations.set(`${webhook.name}/${name}`, String(value));
  }
  for (const warning of response.warnings ?? []) context.warnings.add(warning);
  const answer = {
    allowed: response.allowed === true,
    ...(response.status ? { status: response.status } : {}),
    patch: mutating ? patchOf(response) : [],
  };
  if (!answer.allowed) throw denial(webhook.name, answer.status);
  return answer;
}

async function callWithErrors(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    throw new WebhookCallError(`failed to call webhook: ${error.message}`, { cause: error });
  }
}

function refuseDryRun({ name, sideEffects }: MutatingWebhook | ValidatingWebhook, { dryRun }: Attributes): void {
  if (!dryRun || sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  throw badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

type Response = {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: Partial<Status>;
  /** Base64-encoded JSON patch. In-process webhooks may return the operations themselves. */
  readonly patch?: string | readonly unknown[];
  readonly patchType?: string;
  readonly auditAnnotations?: { readonly [name: string]: unknown };
  readonly warnings?: readonly string[];
};

function verified(
  answered: unknown,
  { version, uid, mutating }: { readonly version: Version; readonly uid: string; readonly mutating: boolean },
): Response {
  const invalid = (why: string) => new WebhookCallError(`received invalid webhook response: ${why}`);
  const {
    response,
    apiVersion = '',
    kind = '',
  } = (isObject(answered) ? answered : {}) as {
    readonly response?: Response | null;
    readonly apiVersion?: string;
    readonly kind?: string;
  };
  if (!response) throw invalid('webhook response was absent');
  // Kubernetes does not validate v1beta1 responses as strictly.
  if (version === 'v1beta1') return response;
  if (response.uid !== uid) throw invalid(`expected response.uid=${quote(uid)}, got ${quote(response.uid ?? '')}`);
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const got = `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
    throw invalid(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
  }
  const hasPatch = (response.patch?.length ?? 0) > 0;
  const hasType = response.patchType != null;
  if (!mutating) {
    if (hasPatch) throw invalid('validating webhook may not return response.patch');
    if (hasType) throw invalid('validating webhook may not return response.patchType');
  } else {
    if (hasPatch && !hasType) throw invalid('webhook returned response.patch but not response.patchType');
    if (hasType && !hasPatch) throw invalid('webhook returned response.patchType but not response.patch');
    if (response.patchType === '') throw invalid('webhook returned invalid response.patchType of ""');
    if (hasPatch && response.patchType !== 'JSONPatch') {
      throw new WebhookCallError(`unsupported patch type ${quote(response.patchType ?? '')}`);
    }
  }
  return response;
}

function patchOf({ patch = '' }: Response): readonly unknown[] {
  if (typeof patch !== 'string') return patch;
  if (patch === '') return [];
  try {
    const operations = parseJson(Buffer.from(patch, 'base64'));
    if (Array.isArray(operations)) return operations;
    throw new Error('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  } catch (error) {
    throw internalError((error as Error).message, { cause: error });
  }
}

/** Converts the Status of a webhook's denial, and ensures that it is a failure. */
function denial(name: string, { message, reason, code = 0, details, metadata }: Partial<Status> = {}): StatusError {
  const webhookName = `admission webhook ${quote(name)} denied the request`;
  const why = message || reason;
  const status = failure({
    code: code < 400 ? 400 : code,
    ...(reason ? { reason } : {}),
    message: why ? `${webhookName}: ${why}` : `${webhookName} without explanation`,
    ...(details ? { details } : {}),
  });
  return new StatusError(metadata ? { ...status, metadata } : status);
}

/** Returns the error for a failed webhook call, unless the failure policy is Ignore. */
export function callFailure({ webhook }: Hook, error: WebhookCallError): StatusError {
  return internalError(`failed calling webhook ${quote(webhook.name)}: ${error.message}`, { cause: error });
}
