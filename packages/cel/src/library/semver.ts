/** Semantic versions of Kubernetes: `semver('1.2.3').isLessThan(semver('2.0.0'))`. */
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { attempt } from '../attempt.ts';
import { constantCost, scale, stringFactor, traversal } from '../costs.ts';
import { type FunctionDeclaration, type Implementation, method, overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { boolType, intType, objectType, stringType } from '../types.ts';
import { EvaluationError, maxUint, ObjectValue, orNoSuchOverload, toInt, type Value } from '../values.ts';

/** `kubernetes.Semver`. */
export const semverType = objectType('kubernetes.Semver');

type Semver = {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly (string | bigint)[];
  readonly build: readonly string[];
};

/** A version as a CEL value. */
export class SemverValue extends ObjectValue {
  readonly typeName = semverType.name;
  readonly version: Semver;

  constructor(version: Semver) {
    super();
    this.version = version;
  }

  equals(other: Value): boolean | EvaluationError {
    return other instanceof SemverValue ? compareVersions(this.version, other.version) === 0 : orNoSuchOverload(other);
  }

  override toJson(): string {
    const { major, minor, patch, prerelease, build } = this.version;
    const suffix = (sign: string, parts: readonly unknown[]) => (parts.length === 0 ? '' : sign + parts.join('.'));
    return `${major}.${minor}.${patch}${suffix('-', prerelease)}${suffix('+', build)}`;
  }
}

/** Parses a version. Throws `ParseError`. */
function parseVersion(text: string): Semver {
  if (text === '') throw new ParseError('Version string empty');
  const [major, minor, rest] = splitThree(text);
  if (minor === undefined || rest === undefined) throw new ParseError('No Major.Minor.Patch elements found');
  const first = parseNumber(major, 'major', 'Major');
  const second = parseNumber(minor, 'minor', 'Minor');
  const plus = rest.indexOf('+');
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus);
  const dash = beforeBuild.indexOf('-');
  const patch = parseNumber(dash < 0 ? beforeBuild : beforeBuild.slice(0, dash), 'patch', 'Patch');
  return {
    major: first,
    minor: second,
    patch,
    prerelease:
      dash < 0
        ? []
        : beforeBuild
            .slice(dash + 1)
            .split('.')
            .map(parsePrerelease),
    build:
      plus < 0
        ? []
        : rest
            .slice(plus + 1)
            .split('.')
            .map(parseBuild),
  };
}

/** Splits a text at the first two dots. */
function splitThree(text: string): [string, string | undefined, string | undefined] {
  const [first = '', second, ...rest] = text.split('.');
  return [first, second, rest.length === 0 ? undefined : rest.join('.')];
}

function parseNumber(text: string, lower: string, upper: string): bigint {
  if (!/^[0-9]+$/.test(text)) {
    // An empty number passes the character test and fails to parse.
    if (text === '') throw new ParseError('strconv.ParseUint: parsing "": invalid syntax');
    throw new ParseError(`Invalid character(s) found in ${lower} number ${quote(text)}`);
  }
  if (/^0./.test(text)) throw new ParseError(`${upper} number must not contain leading zeroes ${quote(text)}`);
  if (text.length > 20 || BigInt(text) > maxUint)
    throw new ParseError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return BigInt(text);
}

function parsePrerelease(text: string): string | bigint {
  if (text === '') throw new ParseError('Prerelease is empty');
  if (/^[0-9]+$/.test(text)) {
    if (/^0./.test(text)) {
      throw new ParseError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
    }
    return BigInt(text);
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) throw new ParseError(`Invalid character(s) found in prerelease ${quote(text)}`);
  return text;
}

function parseBuild(text: string): string {
  if (text === '') throw new ParseError('Build meta data is empty');
  if (!/^[0-9A-Za-z-]+$/.test(text)) {
    throw new ParseError(`Invalid character(s) found in build meta data ${quote(text)}`);
  }
  return text;
}

/** Parses a version after normalization: drops a `v` and leading zeroes, and adds missing numbers. */
function parseLoosely(text: string): Semver {
  const parts = splitThree(text.startsWith('v') ? text.slice(1) : text)
    .filter((part) => part !== undefined)
    .map((part) => {
      if (part.length < 2) return part;
      const trimmed = part.replace(/^0+/, '');
      return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
    });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) {
    throw new ParseError('short version cannot contain PreRelease/Build meta data');
  }
  while (parts.length < 3) parts.push('0');
  return parseVersion(parts.join('.'));
}

function compareVersions(a: Semver, b: Semver): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  }
  // A version is greater than its own prereleases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length);
  }
  for (const [index, left] of a.prerelease.entries()) {
    const right = b.prerelease[index];
    if (right === undefined) return 1;
    if (left === right) continue;
    if (typeof left !== typeof right) return typeof left === 'bigint' ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

const parse = (text: Value, isLoose: Value | undefined): Semver | EvaluationError =>
  attempt(() => (isLoose === true ? parseLoosely(text as string) : parseVersion(text as string)));

const toSemver: Implementation = (text, isLoose) => {
  const version = parse(text!, isLoose);
  return version instanceof EvaluationError ? version : new SemverValue(version);
};

const isSemver: Implementation = (text, isLoose) => !(parse(text!, isLoose) instanceof EvaluationError);

const comparison =
  (finish: (order: number) => Value): Implementation =>
  (a, b) =>
    finish(compareVersions((a as SemverValue).version, (b as SemverValue).version));

const part = (name: 'major' | 'minor' | 'patch'): FunctionDeclaration => ({
  name,
  overloads: [
    method(`semver_${name}`, [semverType], intType, (value) =>
      toInt(BigInt.asIntN(64, (value as SemverValue).version[name])),
    ),
  ],
  cost: constantCost(1),
});

const cost: FunctionDeclaration['cost'] = {
  actual: traversal(0),
  estimate: ({ args }) => ({ cost: scale(args[0]!.size, stringFactor) }),
};

/** The semver library. */
export const semverLibrary: Library = {
  functions: [
    {
      name: 'semver',
      overloads: [
        overload('string_to_semver', [stringType], semverType, toSemver),
        overload('string_bool_to_semver', [stringType, boolType], semverType, toSemver),
      ],
      cost,
    },
    {
      name: 'isSemver',
      overloads: [
        overload('is_semver_string', [stringType], boolType, isSemver),
        overload('is_semver_string_bool', [stringType, boolType], boolType, isSemver),
      ],
      cost,
    },
    {
      name: 'isGreaterThan',
      overloads: [
        method(
          'semver_is_greater_than',
          [semverType, semverType],
          boolType,
          comparison((order) => order > 0),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'isLessThan',
      overloads: [
        method(
          'semver_is_less_than',
          [semverType, semverType],
          boolType,
          comparison((order) => order < 0),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'compareTo',
      overloads: [
        method(
          'semver_compare_to',
          [semverType, semverType],
          intType,
          comparison((order) => order),
        ),
      ],
      cost: constantCost(1),
    },
    part('major'),
    part('minor'),
    part('patch'),
  ],
};
