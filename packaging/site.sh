#!/usr/bin/env bash
# Builds the site into target/site: the pages of docs/ and the playground; and checks its links. Needs mdBook 0.5, python3, and what
# packaging/playground.sh needs; exits with 77 where that is missing.
#
#   packaging/site.sh [ADDRESS]     ADDRESS is that of the repository, for a link to it; by default the one in Cargo.toml
set -euo pipefail
cd "$(dirname "$0")/.."
address=${1-$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)}
if [ -n "$address" ]; then export MDBOOK_OUTPUT__HTML__GIT_REPOSITORY_URL=$address; fi
rm -rf target/site
mdbook build docs
packaging/playground.sh target/site/playground
packaging/site_check.py target/site
