/** The static types of schemas. */
import type { Equal, Expect } from '@kruise/values/testing/types';
import type { Kind, KubernetesObject, ObjectOf } from './kind.ts';
import * as s from './language.ts';

const port = s.object('com.example.Port', 'A port.', {
  number: s.required(1, s.int32()),
  protocol: s.optional(2, s.oneOf(['TCP', 'UDP'])),
  address: s.pointer(3, s.string()),
  time: s.present(4, s.time()),
});

type Port = {
  readonly number: number;
  readonly time: string | null;
  readonly protocol?: 'TCP' | 'UDP';
  readonly address?: string;
};

const named = s.object({ name: s.string(), ports: s.optional(s.list(port)) });
const inlined = s.object({ named: s.inline(1, named), labels: s.optional(s.map(s.string())) });

type Tree = { readonly children?: readonly Tree[] };
const tree: s.Node & s.Typed<Tree> = s.object({ children: s.optional(s.list(s.lazy<Tree>(() => tree))) });

export type Values = [
  Expect<Equal<s.TypeOf<ReturnType<typeof s.string>>, string>>,
  Expect<Equal<s.TypeOf<ReturnType<typeof s.quantity>>, string>>,
  Expect<Equal<s.TypeOf<ReturnType<typeof s.intOrString>>, number | string>>,
  Expect<Equal<s.TypeOf<ReturnType<typeof s.json>>, unknown>>,
];

const choice = s.enumeration(['Parallel', 'OrderedReady']);
const rules = s.either(s.object({ a: s.optional(s.boolean()) }), 'list');

export type Objects = [
  // A field without a value in Go is optional; `required` and `present` fields are always there.
  Expect<Equal<s.TypeOf<typeof port>, Port>>,
  Expect<Equal<s.TypeOf<typeof named>, { readonly name: string; readonly ports?: readonly Port[] }>>,
  // The fields of an inlined object are fields of the object itself.
  Expect<
    Equal<
      s.TypeOf<typeof inlined>,
      {
        readonly labels?: { readonly [key: string]: string };
        readonly name: string;
        readonly ports?: readonly Port[];
      }
    >
  >,
  Expect<Equal<s.TypeOf<typeof tree>, Tree>>,
  Expect<Equal<s.TypeOf<typeof choice>, 'Parallel' | 'OrderedReady'>>,
  Expect<Equal<s.TypeOf<typeof rules>, { readonly a?: boolean } | readonly { readonly a?: boolean }[]>>,
];

type Ball = KubernetesObject & { readonly spec: { readonly size: number } };

export type Kinds = [
  Expect<Equal<ObjectOf<Kind<Ball>>, Ball>>,
  // An unknown kind has what all kinds have.
  Expect<Equal<ObjectOf<Kind>, KubernetesObject>>,
];

/** Objects of a kind that is a type parameter have metadata. */
export function nameOf<K extends Kind>(object: ObjectOf<K>): string | undefined {
  const whole: KubernetesObject = object;
  return object.metadata.name ?? whole.metadata.name;
}

/** Values are immutable, and types are checked where schemas are composed. */
export function mistakes(value: s.TypeOf<typeof port>, object: KubernetesObject): void {
  // @ts-expect-error: values are never mutated.
  value.number = 1;
  // @ts-expect-error: metadata is never mutated.
  object.metadata.name = 'a';
  // @ts-expect-error: a protocol outside of the known values.
  void (value.protocol === 'ICMP');
  // @ts-expect-error: an optional field may be absent.
  void value.address.length;
  // @ts-expect-error: a list needs a node.
  s.list('string');
  // @ts-expect-error: only objects are inlined.
  s.inline(1, s.string());
  // @ts-expect-error: a string has no field `size`.
  s.string({ size: 3 });
  // @ts-expect-error: objects of a kind have metadata.
  void ({} as Kind<{ readonly spec: object }>);
}
