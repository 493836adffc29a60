#!/usr/bin/env bash
# Builds the site into target/site, with the pages of docs/ and the playground, and checks its
# links. Needs mdBook 0.5, python3, and the requirements of packaging/playground.sh; exits with 77
# without them.
#
#   packaging/site.sh [ADDRESS]     ADDRESS of the repository, for a link; default: from Cargo.toml
set -euo pipefail
cd "$(dirname "$0")/.."
address=${1-$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)}
if [ -n "$address" ]; then export MDBOOK_OUTPUT__HTML__GIT_REPOSITORY_URL=$address; fi
rm -rf target/site
mdbook build docs
packaging/playground.sh target/site/playground
packaging/site_check.py target/site
