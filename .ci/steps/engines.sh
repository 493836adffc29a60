# `chromium` is also the name of a package. Its driver is a separate one.
install chromium || true
install chromedriver chromium-driver || true
install java openjdk-17-jdk-headless || true
install javac openjdk-17-jdk-headless || true
install mvn maven || true
debug
# Packages of Maven Central. A server with 1 GB of heap starts sooner with one compiler.
timed_tool 420 "a real search engine" \
  "OpenSearch is unavailable here: it needs a JDK 17, maven and Maven Central" \
  env JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 \
  python3 tests/tools/search_engines.py "$binary" --records 500 --kills 3 --server-kills 1 \
    --days 4 \
  --only load search kills server two gone blocked versions days login
timed_tool 150 "pages in a real browser" "chromium and its driver are not installed" \
  python3 tests/tools/browse_browser.py "$binary"
