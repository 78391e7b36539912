import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, type Outcome, type Program } from './compile.ts';
import { kubernetesEnvironment, perCallLimit, plainEnvironment } from './environments.ts';
import { jsonInt, jsonList, jsonObject, jsonString } from './json-types.ts';
import { boolType, dynType, intType, optionalType } from './types.ts';

const self = jsonObject('Widget', {
  replicas: { type: jsonInt },
  names: { type: jsonList(jsonString({ maxLength: 10 }), { maxItems: 5 }) },
});
const environment = kubernetesEnvironment({ variables: { self, oldSelf: self } });

function compiled(text: string, env = environment): Program {
  const program = compile(env, text);
  assert.ok(program.ok, program.ok ? '' : program.message);
  return program;
}

const evaluate = (text: string, bindings = {}, options = {}): Outcome => compiled(text).evaluate(bindings, options);

test('evaluation returns the value and its cost', () => {
  assert.deepEqual(evaluate('self.replicas <= 3', { self: { replicas: 2 } }), { value: true, cost: 3 });
});

test('a program has the type of its results', () => {
  assert.equal(compiled('self.replicas + 1').type, intType);
  assert.equal(compiled('self.replicas > 1').type, boolType);
});

test('the cost is estimated from declared limits', () => {
  assert.deepEqual(compiled("self.names.all(n, n.startsWith('a'))").estimatedCost, { min: 3n, max: 28n });
});

test('a program knows the variables that an expression refers to', () => {
  const program = compiled('self.replicas > oldSelf.replicas');
  assert.equal(program.uses('oldSelf'), true);
  assert.equal(compiled('self.replicas > 0').uses('oldSelf'), false);
});

test('an error shows its position', () => {
  const failure = compile(environment, "self.replicas > 'a'");
  assert.equal(failure.ok, false);
  assert.equal(
    failure.ok ? '' : failure.message,
    [
      "ERROR: <input>:1:15: found no matching overload for '_>_' applied to '(int, string)'",
      " | self.replicas > 'a'",
      ' | ..............^',
    ].join('\n'),
  );
});

test('an invalid constant is distinguished from a syntax error', () => {
  const failure = compile(environment, "int('x') > self.replicas");
  assert.deepEqual(failure.ok ? undefined : [failure.stage, failure.message], [
    'constant',
    "type conversion error from 'string' to 'int'",
  ]);
});

test('an evaluation ends when it exceeds its cost limit', () => {
  const outcome = evaluate('[1, 2, 3].map(x, [1, 2, 3].map(y, x * y))', {}, { costLimit: 50 });
  assert.deepEqual(
    { ...outcome, cost: 0 },
    { error: 'operation cancelled: actual cost limit exceeded', cost: 0, isCostExceeded: true },
  );
  assert.ok(outcome.cost > 50);
});

test('the default cost limit is that of Kubernetes', () => {
  const names = Array.from({ length: 3000 }, (_, index) => `n${index}`);
  const outcome = evaluate('self.names.all(a, self.names.exists(b, a == b))', { self: { names } });
  assert.ok('error' in outcome && outcome.isCostExceeded);
  assert.ok(outcome.cost > perCallLimit && outcome.cost < perCallLimit + 10);
});

test('a variable without a value is reported', () => {
  assert.deepEqual(evaluate('self.replicas > 0'), {
    error: 'no such attribute(s): self',
    cost: 2,
    isCostExceeded: false,
  });
});

test('variables may be optional values', () => {
  const program = compiled(
    'oldSelf.optMap(o, o.replicas).orValue(0) < self.replicas',
    kubernetesEnvironment({ variables: { self, oldSelf: optionalType(self) } }),
  );
  const self2 = { replicas: 2 };
  assert.deepEqual(program.evaluate({ self: self2 }), { value: true, cost: 6 });
  assert.deepEqual(program.evaluate({ self: self2, oldSelf: { replicas: 3 } }), { value: false, cost: 10 });
});

test('variables may have dotted names', () => {
  const program = compiled('a.b.c == 1', kubernetesEnvironment({ variables: { 'a.b': dynType } }));
  assert.deepEqual(program.evaluate({ 'a.b': { c: 1 } }), { value: true, cost: 3 });
});

test('new expressions may only use libraries of the previous minor version', () => {
  assert.equal(compile(kubernetesEnvironment({ expressions: 'new' }), "isSemver('1.0.0')").ok, false);
  assert.equal(compile(kubernetesEnvironment(), "isSemver('1.0.0')").ok, true);
});

const absent = ['math.greatest(1, 2)', 'cel.bind(x, 1, x)', "base64.encode(b'a')", "'a'.reverse()", 'Object{}'];
for (const text of absent) {
  test(`${text} is not available in Kubernetes`, () => {
    assert.equal(compile(environment, text).ok, false);
  });
}
for (const text of absent.slice(0, -1)) {
  test(`${text} is available in plain CEL`, () => {
    assert.equal(compile(plainEnvironment(), text).ok, true);
  });
}

test('a bound value is evaluated once, and only if it is used', () => {
  const program = compiled('cel.bind(x, [1, 2].map(i, i * 2), false ? x[0] : 7)', plainEnvironment());
  const used = compiled('cel.bind(x, [1, 2].map(i, i * 2), x[0] + x[1])', plainEnvironment());
  const twice = compiled('[1, 2].map(i, i * 2)[0] + [1, 2].map(i, i * 2)[1]', plainEnvironment());
  assert.equal(program.evaluate({}).cost, 0);
  assert.ok(used.evaluate({}).cost < twice.evaluate({}).cost);
});
