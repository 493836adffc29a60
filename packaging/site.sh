#!/usr/bin/env bash
# Builds the site from the pages in docs/ into target/site, and checks its links. Needs mdBook 0.5 and python3.
#
#   packaging/site.sh [ADDRESS]     ADDRESS is that of the repository, for a link to it; by default the one in Cargo.toml
set -euo pipefail
cd "$(dirname "$0")/.."
address=${1-$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)}
if [ -n "$address" ]; then export MDBOOK_OUTPUT__HTML__GIT_REPOSITORY_URL=$address; fi
rm -rf target/site
mdbook build docs
packaging/site_check.py target/site
