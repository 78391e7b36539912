import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { AdmissionPlugin, Attributes } from '../admission/admission.ts';
import type { Lookup, Objects } from '../admission/lookup.ts';
import type { KubeObject } from '../object.ts';

type Given = { readonly kind: Kind; readonly objects: readonly object[] };

/** Creates listers that contain only these objects. */
export function lookupOf(...given: readonly Given[]): Lookup {
  return {
    async waitForCurrent() {},
    of<T extends KubernetesObject>(kind: Kind<T>): Objects<T> {
      const all = () =>
        given.filter((each) => each.kind.plural === kind.plural).flatMap(({ objects }) => objects) as T[];
      const metadataOf = (object: T) => object.metadata;
      return {
        get: (name, namespace) =>
          all().find((object) => {
            const metadata = metadataOf(object);
            return (
              metadata.name === name && (namespace === undefined || (metadata.namespace ?? namespace) === namespace)
            );
          }),
        list: (namespace) =>
          all().filter(
            (object) => namespace === undefined || (metadataOf(object).namespace ?? namespace) === namespace,
          ),
        changedAt: 1,
      };
    },
  };
}

/** Creates the attributes of a write: by default the creation of `object` in the namespace `default`. */
export function writeOf<T extends KubernetesObject>(
  kind: Kind<T>,
  object: unknown,
  more: Partial<Attributes> & { readonly user?: string } = {},
): Attributes {
  const { user = 'someone', ...rest } = more;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const query = new URLSearchParams();
  return {
    context: {
      // Plugins read the object, not the request.
      info: {} as Attributes['context']['info'],
      query,
      user: { username: user, groups: [] },
      userAgent: 'test',
      clock,
      random: seededRandom(1),
      signal: new AbortController().signal,
      warnings: new Set(),
      auditAnnotations: new Map(),
    },
    operation: 'CREATE',
    resource: { kind },
    kind,
    subresource: '',
    namespace: kind.scope === 'Namespaced' ? 'default' : '',
    name: (object as KubeObject | undefined)?.metadata?.name ?? '',
    object: object as KubeObject | undefined,
    oldObject: undefined,
    options: null,
    dryRun: false,
    ...rest,
  };
}

const noReinvocation = { round: 0, requestAnother() {}, notes: new Map() } as const;

/** Returns the object that a plugin returns, or the message of its denial. */
export async function admit(plugin: AdmissionPlugin, attributes: Attributes): Promise<unknown> {
  if (!plugin.handles(attributes)) return attributes.object;
  // A draft has no other references; the test may reuse its object.
  const draft = structuredClone(attributes.object);
  let current = { ...attributes, ...(draft ? { object: draft } : {}) };
  try {
    const object = await plugin.mutate?.(current, noReinvocation);
    if (object) current = { ...current, object };
    await plugin.validate?.(current);
  } catch (error) {
    return (error as Error).message;
  }
  return current.object;
}
