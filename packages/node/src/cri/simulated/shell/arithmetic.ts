/** Arithmetic expansion `$((…))` on 64-bit integers. */
import { ShellSyntaxError } from './syntax.ts';

export type Variables = { get(name: string): string | undefined; set(name: string, value: string): void };

const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];
const token =
  /\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|(<<=|>>=|\*\*|\+\+|--|&&|\|\||[=!<>]=|<<|>>|[-+*/%&|^]=|[-+*/%&|^~!<>=?:(),]))/y;
const assigning: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=']);

export function evaluateArithmetic(text: string, variables: Variables): bigint {
  const tokens: string[] = [];
  const trimmed = text.trim();
  for (token.lastIndex = 0; token.lastIndex < trimmed.length; ) {
    const match = token.exec(trimmed);
    if (!match) throw new ShellSyntaxError('arithmetic syntax error');
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  if (tokens.length === 0) return 0n;
  let at = 0;
  const fail = (): never => {
    throw new ShellSyntaxError('arithmetic syntax error');
  };
  const take = (expected: string): boolean => {
    if (tokens[at] !== expected) return false;
    at++;
    return true;
  };
  const numberOf = (value: string | undefined): bigint => {
    const trimmedValue = value?.trim() ?? '';
    if (trimmedValue === '') return 0n;
    if (/^-?\d+$/.test(trimmedValue)) {
      const isOctal = /^-?0\d/.test(trimmedValue);
      return isOctal ? octal(trimmedValue) : BigInt(trimmedValue);
    }
    return /^0[xX][0-9a-fA-F]+$/.test(trimmedValue) ? BigInt(trimmedValue) : fail();
  };

  function expression(): bigint {
    const name = tokens[at];
    const operator = tokens[at + 1];
    if (name !== undefined && /^[A-Za-z_]/.test(name) && operator !== undefined && assigning.has(operator)) {
      at += 2;
      const right = expression();
      const left = numberOf(variables.get(name));
      const value = operator === '=' ? right : apply(operator.slice(0, -1), left, right);
      variables.set(name, String(value));
      return value;
    }
    const condition = binary(0);
    if (!take('?')) return condition;
    const yes = expression();
    if (!take(':')) fail();
    const no = expression();
    return condition !== 0n ? yes : no;
  }

  function binary(level: number): bigint {
    const operators = levels[level];
    if (!operators) return unary();
    let left = binary(level + 1);
    for (;;) {
      const operator = operators.find((each) => tokens[at] === each);
      if (operator === undefined) return left;
      at++;
      left = apply(operator, left, binary(level + 1));
    }
  }

  function unary(): bigint {
    if (take('-')) return -unary();
    if (take('+')) return unary();
    if (take('!')) return unary() === 0n ? 1n : 0n;
    if (take('~')) return ~unary();
    if (take('++')) return step(1n, 'after');
    if (take('--')) return step(-1n, 'after');
    if (take('(')) {
      const value = expression();
      if (!take(')')) fail();
      return value;
    }
    const text = tokens[at] ?? fail();
    if (/^\d/.test(text)) {
      at++;
      return numberOf(text);
    }
    if (!/^[A-Za-z_]/.test(text)) fail();
    if (tokens[at + 1] === '++' || tokens[at + 1] === '--') {
      const change = tokens[at + 1] === '++' ? 1n : -1n;
      const before = step(change, 'before');
      at++;
      return before;
    }
    at++;
    return numberOf(variables.get(text));
  }

  function step(change: bigint, result: 'before' | 'after'): bigint {
    const name = tokens[at++] ?? fail();
    const before = numberOf(variables.get(name));
    variables.set(name, String(before + change));
    return result === 'before' ? before : before + change;
  }

  const value = expression();
  if (at < tokens.length) fail();
  return BigInt.asIntN(64, value);
}

function octal(text: string): bigint {
  const isNegative = text.startsWith('-');
  const digits = text.replace(/^-?0+/, '') || '0';
  if (/[89]/.test(digits)) throw new ShellSyntaxError('arithmetic syntax error');
  const value = BigInt(`0o${digits}`);
  return isNegative ? -value : value;
}

function apply(operator: string, left: bigint, right: bigint): bigint {
  const claim = (value: boolean) => (value ? 1n : 0n);
  switch (operator) {
    case '||':
      return claim(left !== 0n || right !== 0n);
    case '&&':
      return claim(left !== 0n && right !== 0n);
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '&':
      return left & right;
    case '==':
      return claim(left === right);
    case '!=':
      return claim(left !== right);
    case '<=':
      return claim(left <= right);
    case '>=':
      return claim(left >= right);
    case '<':
      return claim(left < right);
    case '>':
      return claim(left > right);
    case '<<':
      return BigInt.asIntN(64, left << (right & 63n));
    case '>>':
      return left >> (right & 63n);
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return BigInt.asIntN(64, left * right);
    default: {
      if (right === 0n) throw new ShellSyntaxError('divide by zero');
      return operator === '/' ? left / right : left % right;
    }
  }
}
