/** Webhooks of the Kubernetes test image: they allow, deny and mutate what its tests expect. */
import { after, type Clock } from '@kruise/values/clock';
import { quote } from '@kruise/values/go-syntax';
import type { HttpResponse } from '../../runtime.ts';
import { type ServedRequest, textResponse } from '../network.ts';

type Json = Readonly<Record<string, unknown>>;

/** An object under review; missing fields are undefined. */
type Reviewed = {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly containers?: readonly Named[]; readonly initContainers?: readonly Named[] };
};
type Named = { readonly name: string };

type AdmissionRequest = {
  readonly uid: string;
  readonly name?: string;
  readonly operation: string;
  readonly object?: (Reviewed & Json) | null;
  readonly oldObject?: Reviewed | null;
};

type Verdict = { readonly allowed: boolean; readonly status?: Json; readonly patch?: readonly Json[] };
type WebhookContext = { readonly clock: Clock; readonly sidecarImage: string };
type Admitter = (request: AdmissionRequest, context: WebhookContext) => Verdict | 'hang' | Promise<Verdict>;

const allowed: Verdict = { allowed: true };
const denied = (status: Json): Verdict => ({ allowed: false, status });
const changed = (...patch: readonly Json[]): Verdict => ({ allowed: true, patch });

const judges: Readonly<Record<string, Admitter>> = {
  '/always-allow-delay-5s': async (_, { clock }) => {
    await after(clock, 5000);
    return { allowed: true, status: { message: 'this webhook allows all requests' } };
  },
  '/always-deny': () => denied({ message: 'this webhook denies all requests' }),
  '/add-label': ({ object }) => labelled(object?.metadata?.labels ?? {}),
  '/pods': judgePod,
  '/pods/attach': ({ name, object }) =>
    name === 'to-be-attached-pod' && object?.stdin === true && object.container === 'container1'
      ? denied({ message: "attaching to pod 'to-be-attached-pod' is not allowed" })
      : allowed,
  '/mutating-pods': ({ object }) => {
    const { metadata, spec } = object ?? {};
    const init = { image: 'webhook-added-image', name: 'webhook-added-init-container', resources: {} };
    if (metadata?.name !== 'webhook-to-be-mutated' || has(spec?.initContainers, init.name)) return allowed;
    return changed({ op: 'add', path: '/spec/initContainers', value: [init] });
  },
  '/mutating-pods-sidecar': ({ object }, { sidecarImage }) => {
    if (sidecarImage === '') {
      return denied({ status: 'Failure', message: 'No image specified by the sidecar-image parameter', code: 500 });
    }
    const sidecar = { image: sidecarImage, name: 'webhook-added-sidecar', resources: {} };
    if (has(object?.spec?.containers, sidecar.name)) return allowed;
    return changed({ op: 'add', path: '/spec/containers/-', value: sidecar });
  },
  '/configmaps': (request) =>
    judgeData(request, {
      unwanted: 'the configmap contains unwanted key and value',
      kept: 'the configmap cannot be deleted because it contains unwanted key and value',
    }),
  '/mutating-configmaps': nextStage,
  '/custom-resource': (request) =>
    judgeData(request, {
      unwanted: 'the custom resource contains unwanted data',
      kept: 'the custom resource cannot be deleted because it contains unwanted key and value',
    }),
  '/mutating-custom-resource': nextStage,
  '/crd': ({ object }) =>
    object?.metadata?.labels?.['webhook-e2e-test'] === 'webhook-disallow'
      ? denied({ message: 'the crd contains unwanted label' })
      : allowed,
};

/** `agnhost webhook`: allows, denies or mutates, by path. */
export async function respondWebhook(request: ServedRequest, context: WebhookContext): Promise<HttpResponse | 'hang'> {
  const judge = judges[request.path];
  if (!judge) return readiness(request);
  const review = JSON.parse(Buffer.from(request.body).toString());
  const verdict = await judge(review.request, context);
  if (verdict === 'hang') return 'hang';
  const { patch, ...rest } = verdict;
  return jsonAnswer({
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: review.request.uid,
      ...rest,
      ...(patch && { patch: Buffer.from(JSON.stringify(patch)).toString('base64'), patchType: 'JSONPatch' }),
    },
  });
}

function judgePod({ object }: AdmissionRequest): Verdict | 'hang' {
  const label = object?.metadata?.labels?.['webhook-e2e-test'];
  if (label === 'wait-forever') return 'hang';
  const complaints = [
    ...(label === 'webhook-disallow' ? ['the pod contains unwanted label;'] : []),
    ...(object?.spec?.containers ?? [])
      .filter(({ name }) => name.includes('webhook-disallow'))
      .map(() => 'the pod contains unwanted container name;'),
  ];
  return complaints.length === 0 ? allowed : denied({ message: complaints.join(' ') });
}

function judgeData(
  { operation, object, oldObject }: AdmissionRequest,
  reasons: { readonly unwanted: string; readonly kept: string },
): Verdict {
  const isDeletion = operation === 'DELETE';
  const mark = (isDeletion ? oldObject : object)?.data?.['webhook-e2e-test'];
  if (isDeletion) return mark === 'webhook-nondeletable' ? denied({ reason: reasons.kept }) : allowed;
  return mark === 'webhook-disallow' ? denied({ reason: reasons.unwanted }) : allowed;
}

/** Each call advances an object by one stage, so that the order of calls is visible. */
function nextStage({ object }: AdmissionRequest): Verdict {
  const { data = {} } = object ?? {};
  const stage = data['mutation-stage-1'] === 'yes' ? 2 : data['mutation-start'] === 'yes' ? 1 : undefined;
  return stage ? changed({ op: 'add', path: `/data/mutation-stage-${stage}`, value: 'yes' }) : allowed;
}

function labelled(labels: Readonly<Record<string, string>>): Verdict {
  if (Object.keys(labels).length === 0) {
    return changed({ op: 'add', path: '/metadata/labels', value: { 'added-label': 'yes' } });
  }
  return labels['added-label'] === 'yes'
    ? allowed
    : changed({ op: 'add', path: '/metadata/labels/added-label', value: 'yes' });
}

function has(containers: readonly Named[] | undefined, name: string): boolean {
  return (containers ?? []).some((container) => container.name === name);
}

type Versioned = Json & { readonly apiVersion: string };

/**
 * `agnhost crd-conversion-webhook`: joins host and port of version 2 to one field of version 1, and splits it again.
 */
export function respondConversion(request: ServedRequest): HttpResponse {
  if (request.path !== '/crdconvert') return readiness(request);
  const review = JSON.parse(Buffer.from(request.body).toString());
  const { uid, objects, desiredAPIVersion } = review.request;
  const respond = (response: Json) =>
    jsonAnswer({ apiVersion: review.apiVersion, kind: review.kind, response: { uid, ...response } });
  try {
    const convertedObjects = (objects as Versioned[]).map((object) => converted(object, desiredAPIVersion));
    return respond({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    return respond({ result: { status: 'Failure', message: (error as Error).message } });
  }
}

function converted(object: Versioned, apiVersion: string): Json {
  if (object.apiVersion === apiVersion) {
    throw new Error(`conversion from a version to itself should not call the webhook: ${apiVersion}`);
  }
  switch (`${object.apiVersion} to ${apiVersion}`) {
    case 'stable.example.com/v1 to stable.example.com/v2': {
      const { hostPort, ...rest } = object;
      if (hostPort === undefined) return { ...rest, apiVersion };
      const [host, port, more] = String(hostPort).split(':');
      if (port === undefined || more !== undefined) throw new Error(`invalid hostPort value \`${hostPort}\``);
      return { ...rest, apiVersion, host, port };
    }
    case 'stable.example.com/v2 to stable.example.com/v1': {
      const { host, port, ...rest } = object;
      if (host === undefined && port === undefined) return { ...rest, apiVersion };
      return { ...rest, apiVersion, hostPort: `${host ?? ''}:${port ?? ''}` };
    }
    default: {
      const isKnown = /^stable\.example\.com\/v[12]$/.test(object.apiVersion);
      throw new Error(`unexpected conversion version ${quote(isKnown ? apiVersion : object.apiVersion)}`);
    }
  }
}

function readiness({ path }: ServedRequest): HttpResponse {
  return path === '/readyz' ? textResponse(200, 'ok') : textResponse(404, '404 page not found\n');
}

function jsonAnswer(value: Json): HttpResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
