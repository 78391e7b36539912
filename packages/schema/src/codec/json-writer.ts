import { stringify } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import { type Node, resolve } from '../language.ts';
import { shapeOf } from './object-shape.ts';

// Matches keys that JavaScript may treat as indexes and put first. A false match inside a string costs only time.
const indexLikeKey = /"[0-9]+":/;

/** Returns the JSON text of a canonical value, byte for byte as Go writes it. */
export function writeJson(node: Node, value: unknown): string {
  const text = stringify(value);
  return indexLikeKey.test(text) ? writeInOrder(node, value) : text;
}

/** Writes maps in the order of their keys, which a JavaScript object cannot hold. */
function writeInOrder(unresolved: Node, value: unknown): string {
  const node = resolve(unresolved);
  if (typeof value !== 'object' || value === null) return stringify(value);
  if (Array.isArray(value)) {
    const items = node.type === 'list' ? node.items : node.type === 'either' ? node.object : node;
    return `[${value.map((item) => writeInOrder(items, item)).join(',')}]`;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  switch (node.type) {
    case 'object': {
      const { plans, positions } = shapeOf(node);
      return join(members, (name) => plans[positions.get(name)!]!.node);
    }
    case 'either':
      return writeInOrder(node.object, value);
    case 'map':
      return join(
        members.sort(([a], [b]) => compareStrings(a, b)),
        () => node.values,
      );
    default:
      return stringify(value);
  }
}

function join(members: readonly (readonly [string, unknown])[], nodeOf: (name: string) => Node): string {
  return `{${members.map(([name, member]) => `${stringify(name)}:${writeInOrder(nodeOf(name), member)}`).join(',')}}`;
}
